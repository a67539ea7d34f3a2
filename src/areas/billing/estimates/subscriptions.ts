import type { Temporal } from 'temporal-polyfill';
import type { Currency } from '../../../engine/money/currency.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { BillingEntityId, SubscriptionId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { listShown, type SubscriptionShown } from '../../subscriptions/subscriptions/queries.ts';

/** The subscription that an estimated event belongs to. */
export interface EstimatedSubscription extends SubscriptionShown {
  plan_amount_currency: Currency;
  customer_billing_entity_id: BillingEntityId;
  self_billed: boolean;
}

interface CoveringRow {
  id: SubscriptionId;
  customer_billing_entity_id: BillingEntityId;
  self_billed: boolean;
}

/**
 * The subscription of each external id that covers the present, by external id.
 *
 * @throws Refusal 404 subscription, when one has none
 * Rules: events.md#subscription-of-an-event (2), estimates.md#fees.
 */
export async function coveringSubscriptions(
  ctx: Context,
  externalIds: readonly string[],
): Promise<Map<string, EstimatedSubscription>> {
  const covering = await listCovering(ctx, externalIds, ctx.now());
  const facts = new Map(covering.map((row) => [row.id, row]));
  const shown = await listShown(ctx, [...facts.keys()]);
  const found = new Map(
    shown.map((row) => {
      const { customer_billing_entity_id, self_billed } = facts.get(row.id)!;
      const plan_amount_currency = row.plan_amount_currency as Currency;
      return [row.external_id, { ...row, plan_amount_currency, customer_billing_entity_id, self_billed }];
    }),
  );
  if (externalIds.some((id) => !found.has(id))) throw refuse.notFound('subscription');
  return found;
}

const listCovering = ({ db, organizationId }: Scope, externalIds: readonly string[], at: Temporal.Instant) => db<
  CoveringRow[]
>`
  select distinct on (s.external_id) s.id, customer.billing_entity_id as customer_billing_entity_id,
    customer.account_type = 'partner' as self_billed
  from subscriptions s
  join customers customer on customer.organization_id = s.organization_id and customer.id = s.customer_id
  where s.organization_id = ${organizationId} and s.external_id = any (${externalIds}::text[])
    and s.status in ('active', 'terminated') and date_trunc('milliseconds', s.started_at) <= ${at}
    and (s.terminated_at is null or date_trunc('milliseconds', s.terminated_at) >= date_trunc('milliseconds',
      ${at}::timestamptz))
  order by s.external_id, s.terminated_at desc nulls first, s.started_at desc, s.id desc`;
