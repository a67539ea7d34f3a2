import type { Temporal } from 'temporal-polyfill';
import { assert } from '../../../engine/assert.ts';
import { billingDaysBetween } from '../../../engine/calendar/billing-day.ts';
import { dayStart, localDate } from '../../../engine/calendar/local-day.ts';
import { canSubscriptionMove } from '../../../engine/subscriptions/subscription-states.ts';
import type { Context } from '../../../platform/context.ts';
import type { SubscriptionId } from '../../../platform/ids.ts';
import { markUsage } from '../../catalog/usage-thresholds/usage-marks.ts';
import { endRules, isExpired } from '../../subscriptions/subscriptions/activation-rules.ts';
import { recordSubscription } from '../../subscriptions/subscriptions/announce.ts';
import { nextBillingFrom } from '../../subscriptions/subscriptions/commands/next-billing.ts';
import type { SubscriptionRow } from '../../subscriptions/subscriptions/queries.ts';
import { changeSubscription, getPlanFacts } from '../../subscriptions/subscriptions/writes.ts';
import { lockSubscriptionIn } from '../bill-subscriptions/lock-subscription.ts';
import { closeOpenInvoice } from './close-open-invoice.ts';
import { handOver, keepFormer } from './end-predecessor.ts';
import { finalizeOpenInvoice } from './finalize-open-invoice.ts';
import { type GateInvoice, isCustomerGone, lockGateInvoice } from './gated-subscriptions.ts';

/** Step `settle-gate`: see settleGate. */
export const settleGateStep = (ctx: Context, { subscription_id }: { subscription_id: SubscriptionId }): Promise<void> =>
  settleGate(ctx, subscription_id, ctx.now());

/**
 * Decides, from what is stored, about a subscription that waits for the payment of its first invoice. A payment
 * activates it in place of the record that it replaces; a refused payment, an expired rule or a deleted customer
 * cancels it; otherwise it keeps waiting. Safe to run any number of times and in parallel.
 *
 * Rule: activation-rules.md.
 */
export async function settleGate(ctx: Context, subscriptionId: SubscriptionId, at: Temporal.Instant): Promise<void> {
  const locked = await lockSubscriptionIn(ctx, subscriptionId, 'incomplete');
  if (!locked) return;
  const { subscription, customer } = locked;
  const invoice = await lockGateInvoice(ctx, subscriptionId);
  if (invoice && isPaid(invoice)) {
    if (invoice.status === 'open') await finalizeOpenInvoice(ctx, invoice);
    await pass(ctx, subscription, customer.zone, at);
  } else if (invoice?.status === 'open' && invoice.payment_status === 'failed') {
    await lose(ctx, subscription, { invoice, zone: customer.zone, outcome: 'failed' });
  } else if (await isExpired(ctx, subscriptionId, at)) {
    await lose(ctx, subscription, { invoice, zone: customer.zone, outcome: 'expired' });
  } else if (await isCustomerGone(ctx, customer.id)) {
    await lose(ctx, subscription, { invoice, zone: customer.zone, outcome: 'declined' });
  }
}

/** An invoice that was never open had nothing to pay. */
const isPaid = ({ status, payment_status }: GateInvoice): boolean =>
  status === 'finalized' || status === 'closed' || (status === 'open' && payment_status === 'succeeded');

async function pass(ctx: Context, subscription: SubscriptionRow, zone: string, at: Temporal.Instant): Promise<void> {
  assert(canSubscriptionMove(subscription.status, 'active'), 'a subscription that waits may become active');
  await endRules(ctx, subscription.id, 'satisfied');
  await handOver(ctx, subscription, zone);
  await changeSubscription(ctx, subscription.id, {
    change: {
      status: 'active',
      activated_at: ctx.now(),
      next_billing_at: await catchUpFrom(ctx, subscription, zone, at),
    },
    now: ctx.now(),
  });
  await recordSubscription(ctx, 'subscription.started', subscription.id);
  await markUsage(ctx, { ids: [subscription.id] });
}

/** Only the last of the billing days that passed while it waited is billed. Rule: activation-rules.md "catch-up". */
async function catchUpFrom(ctx: Context, subscription: SubscriptionRow, zone: string, at: Temporal.Instant) {
  assert(subscription.started_at, 'a subscription that waits has started');
  const plan = await getPlanFacts(ctx, subscription.plan_id);
  const first = localDate(subscription.started_at, zone).add({ days: 1 });
  const missed = billingDaysBetween(plan, subscription, zone, first, localDate(at, zone)).at(-1);
  return missed === undefined ? nextBillingFrom(plan, subscription, zone, at) : dayStart(missed, zone);
}

/** Why a subscription is canceled, by the outcome of its rule; the deletion of a customer has no reason of its own. */
const REASONS = { failed: 'payment_failed', expired: 'timeout', declined: null } as const;

async function lose(
  ctx: Context,
  subscription: SubscriptionRow,
  { invoice, zone, outcome }: { invoice: GateInvoice | undefined; zone: string; outcome: keyof typeof REASONS },
): Promise<void> {
  assert(canSubscriptionMove(subscription.status, 'canceled'), 'a subscription that waits may be canceled');
  if (invoice) await closeOpenInvoice(ctx, invoice);
  await endRules(ctx, subscription.id, outcome);
  await changeSubscription(ctx, subscription.id, {
    change: {
      status: 'canceled',
      canceled_at: ctx.now(),
      cancellation_reason: REASONS[outcome],
    },
    now: ctx.now(),
  });
  await recordSubscription(ctx, 'subscription.canceled', subscription.id);
  await keepFormer(ctx, subscription, zone);
}
