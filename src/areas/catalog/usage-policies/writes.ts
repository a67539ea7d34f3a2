import type { Scope } from '../../../platform/db/scope.ts';
import type { PlanId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import type { UsagePolicies } from './schema.ts';

/**
 * Keeps from when on a policy for late events holds, if it is another than before. The caller holds the plan or the
 * organization.
 *
 * planId null: the organization's own
 *
 * Rule: event-corrections.md#late-events.
 */
export async function keepLateEventsPolicy(
  { db, organizationId }: Scope,
  { planId, policies }: { planId: PlanId | null; policies: Partial<UsagePolicies> | null },
): Promise<void> {
  const policy = policies?.late_events ?? null;
  await db`
    insert into late_event_policies (organization_id, plan_id, from_id, policy)
    select ${organizationId}, ${planId}, ${newId()}, ${policy}
    where ${policy}::text is distinct from (
      select policy from late_event_policies
      where organization_id = ${organizationId} and plan_id is not distinct from ${planId}::uuid
      order by from_id desc limit 1)`;
}
