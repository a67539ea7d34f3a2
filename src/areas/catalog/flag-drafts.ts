import type { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../platform/db/scope.ts';
import type { PlanId } from '../../platform/ids.ts';

/**
 * Flags the draft invoices of some plans, so that their next refresh computes them again. Rule:
 * plans.md#charges-of-a-plan.
 */
export async function flagDraftInvoicesOfPlans(
  { db, organizationId }: Scope,
  planIds: readonly PlanId[],
  now: Temporal.Instant,
): Promise<void> {
  if (planIds.length === 0) return;
  await db`
    update invoices i set ready_to_be_refreshed = true, updated_at = ${now}
    where i.organization_id = ${organizationId} and i.status = 'draft' and not i.ready_to_be_refreshed
      and exists (
        select from invoice_subscriptions line
        join subscriptions s on s.organization_id = line.organization_id and s.id = line.subscription_id
        where line.organization_id = i.organization_id and line.invoice_id = i.id
          and s.plan_id = any (${planIds}::uuid[])
      )`;
}
