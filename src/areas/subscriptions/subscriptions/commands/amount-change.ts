import { assert } from '../../../../engine/assert.ts';
import { isUpgrade } from '../../../../engine/subscriptions/comparison-amount.ts';
import type { Context } from '../../../../platform/context.ts';
import type { Scope } from '../../../../platform/db/scope.ts';
import type { CustomerId, ExternalCustomerId, PlanId, SubscriptionId } from '../../../../platform/ids.ts';
import type { SubscriptionRow } from '../queries.ts';
import { getPlanFacts, lockCustomerById, lockSubscriptions } from '../writes.ts';
import { cancelPending } from './cancel.ts';
import { changePlan } from './change-plan.ts';

/** A plan change that waits for the end of a period. */
interface PendingChange {
  id: SubscriptionId;
  previous_id: string;
  customer_id: CustomerId;
  /** Whether the plan whose amount changed is the target; otherwise it is the current plan. */
  is_target: boolean;
  target_amount_cents: number;
}

/**
 * Applies a new amount of a plan to waiting plan changes: a downgrade to a plan that now costs more is withdrawn, and a
 * change to this plan that has become an upgrade happens now.
 *
 * @throws Refusal 405 cannot_terminate_with_pending_taxes, of such an upgrade
 * Rule: plans.md#charges-of-a-plan "amount change side effects".
 */
export async function followAmountChange(ctx: Context, { plan_id: planId }: { plan_id: PlanId }): Promise<void> {
  const changes = await listPendingChanges(ctx, planId);
  if (changes.length === 0) return;
  const plan = await getPlanFacts(ctx, planId);
  for (const change of changes) {
    const customer = await lockCustomerById(ctx, change.customer_id);
    const rows = await lockSubscriptions(ctx, [change.id, change.previous_id]);
    const [pending, current] = [change.id, change.previous_id].map((id) => rows.find((row) => row.id === id));
    if (pending?.status !== 'pending' || current?.status !== 'active') continue;
    assert(customer, 'a subscription has a customer');
    if (!change.is_target) {
      if (plan.amount_cents < change.target_amount_cents) await cancelPending(ctx, pending);
      continue;
    }
    const currentPlan = await getPlanFacts(ctx, current.plan_id);
    if (isUpgrade(currentPlan, plan))
      await changePlan(ctx, { ...upgradeOf(current, pending, customer.external_id, plan.code), plan, customer });
  }
}

const listPendingChanges = ({ db, organizationId }: Scope, planId: PlanId) => db<PendingChange[]>`
  select pending.id, current.id as previous_id, pending.customer_id, pending.plan_id = ${planId} as is_target,
    target.amount_cents as target_amount_cents
  from subscriptions pending
  join subscriptions current on current.organization_id = pending.organization_id
    and current.id = pending.previous_subscription_id and current.status = 'active'
  join plans target on target.organization_id = pending.organization_id and target.id = pending.plan_id
  where pending.organization_id = ${organizationId} and pending.status = 'pending'
    and (pending.plan_id = ${planId} or current.plan_id = ${planId})
  order by pending.customer_id, pending.id`;

/** The requested change, with the values that it takes again from the current subscription. */
const upgradeOf = (
  current: SubscriptionRow,
  pending: SubscriptionRow,
  externalCustomerId: ExternalCustomerId,
  planCode: string,
) => ({
  current,
  lineage: [current, pending],
  rulesOf: pending.id,
  billingEntityId: pending.billing_entity_id,
  body: {
    external_customer_id: externalCustomerId,
    external_id: pending.external_id,
    plan_code: planCode,
    billing_time: pending.billing_time,
    name: pending.name,
    purchase_order_number: pending.purchase_order_number,
    buyer_reference: pending.buyer_reference,
    consolidate_invoice: pending.consolidate_invoice,
    progressive_billing_disabled: pending.progressive_billing_disabled,
    payment_method: { payment_method_type: pending.payment_method_type, payment_method_id: pending.payment_method_id },
  },
});
