import type { Temporal } from 'temporal-polyfill';
import { assert } from '../../../../engine/assert.ts';
import { canSubscriptionMove } from '../../../../engine/subscriptions/subscription-states.ts';
import type { Context } from '../../../../platform/context.ts';
import type { CustomerId, PlanId, SubscriptionId } from '../../../../platform/ids.ts';
import { announce } from '../../../../platform/reactions.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { paidSubscriptionEnds } from '../../announcements.ts';
import { recordSubscription } from '../announce.ts';
import type { CreditNoteOnTermination, InvoiceOnTermination, SubscriptionRow } from '../queries.ts';
import { GATE_STEP } from '../settle-gate.ts';
import {
  changeSubscription,
  getPlanFacts,
  lockCustomerById,
  lockLineage,
  lockSubscriptions,
  type SubscriptionChange,
} from '../writes.ts';
import { cancelPending, cancelPendingSuccessors } from './cancel.ts';
import { BILL_STEP, type BillStep } from './start.ts';

export interface TerminationInput {
  external_id: string;
  query: {
    status?: string | undefined;
    on_termination_credit_note?: CreditNoteOnTermination | undefined;
    on_termination_invoice?: InvoiceOnTermination | undefined;
  };
}

/**
 * Ends the active record of an external id now, or withdraws the pending one when the query says so.
 *
 * @returns id of the record
 * @throws Refusal 404 subscription; 405 cannot_terminate_with_pending_taxes; 422 base, of one that waits for a payment
 * Rule: termination.md#ending-a-subscription.
 */
export async function deleteSubscription(ctx: Context, { external_id, query }: TerminationInput): Promise<string> {
  const wanted = query.status === 'pending' ? 'pending' : 'active';
  const lineage = await lockRecords(ctx, external_id);
  const subscription = lineage.findLast((row) => row.status === wanted);
  if (!subscription && wanted === 'active' && lineage.some((row) => row.status === 'incomplete'))
    throw refuse.invalid({ base: ['subscription_incomplete'] });
  if (!subscription) throw refuse.notFound('subscription');
  if (subscription.status === 'pending') await cancelPending(ctx, subscription);
  else {
    if (lineage.some((row) => row.status === 'incomplete' && row.previous_subscription_id === subscription.id))
      throw refuse.invalid({ base: ['next_subscription_incomplete'] });
    await terminateSubscription(ctx, subscription, {
      creditNote: query.on_termination_credit_note,
      invoice: query.on_termination_invoice,
    });
  }
  return subscription.id;
}

/** Every record of an external id, oldest first, locked after the customers that own them. */
export async function lockRecords(ctx: Context, externalId: string): Promise<SubscriptionRow[]> {
  const owners = await ctx.db<{ customer_id: CustomerId }[]>`
    select distinct customer_id from subscriptions
    where organization_id = ${ctx.organizationId} and external_id = ${externalId}
    order by customer_id`;
  for (const owner of owners) await lockCustomerById(ctx, owner.customer_id);
  return lockLineage(ctx, externalId);
}

/**
 * Ends an active subscription now: its scheduled plan change is withdrawn, what was paid in advance for its unused days
 * is given back, and its last invoice is owed unless the request says otherwise. The choices used are stored; a plan in
 * arrears has nothing to credit. The caller holds the customer's lock.
 *
 * @throws Refusal 405 cannot_terminate_with_pending_taxes
 * Rule: termination.md#ending-a-subscription.
 */
export async function terminateSubscription(
  ctx: Context,
  subscription: SubscriptionRow,
  asked: { creditNote?: CreditNoteOnTermination | undefined; invoice?: InvoiceOnTermination | undefined } = {},
): Promise<void> {
  const plan = await getPlanFacts(ctx, subscription.plan_id);
  const invoice = asked.invoice ?? subscription.on_termination_invoice;
  const creditNote = plan.pay_in_advance
    ? (asked.creditNote ?? subscription.on_termination_credit_note ?? 'credit')
    : null;
  if (creditNote !== null && creditNote !== 'skip')
    await announce(ctx, paidSubscriptionEnds, {
      plan,
      subscription,
      at: ctx.now(),
      choice: creditNote,
      isUpgrade: false,
    });

  await cancelPendingSuccessors(ctx, subscription);
  await endSubscription(ctx, subscription, {
    terminated_at: ctx.now(),
    on_termination_credit_note: creditNote,
    on_termination_invoice: invoice,
  });
  await recordSubscription(ctx, 'subscription.terminated', subscription.id);
  if (invoice === 'generate') ctx.after({ step: BILL_STEP, payload: closingStep(subscription.id, ctx.now()) });
  // Differences of corrected usage would wait for a next invoice that will not come.
  else ctx.after({ step: 'invoice-differences', payload: { subscription_id: subscription.id } });
}

const closingStep = (subscriptionId: SubscriptionId, at: Temporal.Instant): BillStep => ({
  lines: [{ subscription_id: subscriptionId, reason: 'subscription_terminating' }],
  at: at.toString(),
});

/** Sets an active subscription to terminated and does nothing else. */
export async function endSubscription(
  ctx: Context,
  subscription: SubscriptionRow,
  change: SubscriptionChange & { terminated_at: Temporal.Instant },
): Promise<void> {
  assert(canSubscriptionMove(subscription.status, 'terminated'), 'only an active subscription is terminated');
  await changeSubscription(ctx, subscription.id, {
    change: { ...change, status: 'terminated', next_billing_at: null },
    now: ctx.now(),
  });
}

/** As endSubscriptionsOf, for a deleted customer. */
export const endSubscriptionsOfCustomer = (ctx: Context, { customer_id }: { customer_id: CustomerId }): Promise<void> =>
  endSubscriptionsOf(ctx, { customerId: customer_id });

/** As endSubscriptionsOf, for deleted plans one after the other. */
export async function endSubscriptionsOfPlans(
  ctx: Context,
  { plan_ids }: { plan_ids: readonly PlanId[] },
): Promise<void> {
  for (const planId of plan_ids) await endSubscriptionsOf(ctx, { planId });
}

/**
 * Ends the active subscriptions of a customer or of a plan and cancels the pending ones: the first part of a deletion.
 * A subscription that waits for a payment keeps waiting when its plan is deleted, and is canceled with its customer.
 * Rules: plans.md#deletion, termination.md#ending-a-subscription "customer deletion".
 */
async function endSubscriptionsOf(ctx: Context, owner: { customerId: CustomerId } | { planId: PlanId }): Promise<void> {
  const open = await ctx.db<{ id: SubscriptionId; customer_id: CustomerId }[]>`
    select id, customer_id from subscriptions
    where organization_id = ${ctx.organizationId} and status in ('active', 'pending', 'incomplete')
      and ${'customerId' in owner ? ctx.db`customer_id = ${owner.customerId}` : ctx.db`plan_id = ${owner.planId}`}
    order by customer_id, id`;
  for (const customerId of new Set(open.map((row) => row.customer_id))) await lockCustomerById(ctx, customerId);
  const locked = await lockSubscriptions(
    ctx,
    open.map((row) => row.id),
  );
  for (const row of locked) {
    if (row.status === 'pending') await cancelPending(ctx, row);
    if (row.status === 'active') await terminateSubscription(ctx, row);
    if (row.status === 'incomplete' && 'customerId' in owner)
      ctx.after({ step: GATE_STEP, payload: { subscription_id: row.id } });
  }
}
