import type { Temporal } from 'temporal-polyfill';
import { assert } from '../../../engine/assert.ts';
import { dayEnd, localDate } from '../../../engine/calendar/local-day.ts';
import type { InvoicingReason } from '../../../engine/invoices/invoice-types.ts';
import type { Context } from '../../../platform/context.ts';
import { recordStartUnits } from '../../catalog/fixed-charges/units-of-subscriptions.ts';
import { recordSubscription } from '../../subscriptions/subscriptions/announce.ts';
import { nextBillingFrom } from '../../subscriptions/subscriptions/commands/next-billing.ts';
import { bearsOpeningLine, waitForPayment } from '../../subscriptions/subscriptions/commands/start.ts';
import { endSubscription } from '../../subscriptions/subscriptions/commands/terminate.ts';
import type { SubscriptionRow } from '../../subscriptions/subscriptions/queries.ts';
import { changeSubscription, getPlanFacts, lockSubscriptions } from '../../subscriptions/subscriptions/writes.ts';
import { listPricedCharges } from '../../usage/usage/priced-charges.ts';
import { gatherPaidFees } from '../bill-in-advance/gather-paid-fees.ts';
import { buildInvoice } from '../build-invoice/build-invoice.ts';
import type { PayerFacts } from '../build-invoice/payer-and-issuer.ts';
import { isRenewed } from '../build-invoice/renewals.ts';
import type { DueSubscription } from './due-subscriptions.ts';
import { invoiceGroups } from './invoice-groups.ts';

/**
 * What a scheduled plan change leaves to bill: the record that ended, and the one that started if it is due at once.
 */
type ChangedOver = (SubscriptionRow & { amount_currency: string; reason: InvoicingReason })[];

/**
 * Carries out a scheduled plan change at `at`, the run of the first local day of the next period: the old record ends,
 * the new one starts, and one invoice closes the old period and opens the new one where that is paid in advance. A new
 * record that waits for its first payment is only started: the old one runs on and is billed for this day once the day
 * is over.
 *
 * Rules: plan-changes.md#downgrade, activation-rules.md.
 */
export async function applyDowngrade(
  ctx: Context,
  payer: PayerFacts,
  subscription: DueSubscription,
  at: Temporal.Instant,
): Promise<void> {
  const successorId = subscription.pending_successor_id!;
  if (await isHeldBack(ctx, payer, { subscription, successorId, at })) return;
  const changed = await changeOver(ctx, payer, { ...subscription, successor_id: successorId }, at);
  const together = changed.map((each) => ({ ...each, consolidate_invoice: true }));
  for (const group of invoiceGroups(together, payer.billing_entity_id)) {
    await buildInvoice(ctx, {
      payer,
      lines: group.map(({ id, reason }) => ({ subscription_id: id, reason })),
      at,
      skipUsage: false,
    });
  }
  const ids = changed.map(({ id }) => id);
  await gatherPaidFees(ctx, payer, ids, at);
}

/** Last instant of a local day; a run of the next day catches this day up. */
export const endOfDay = (at: Temporal.Instant, zone: string): Temporal.Instant =>
  dayEnd(localDate(at, zone), zone).subtract({ microseconds: 1 });

async function isHeldBack(
  ctx: Context,
  { zone }: PayerFacts,
  { subscription, successorId, at }: { subscription: DueSubscription; successorId: string; at: Temporal.Instant },
): Promise<boolean> {
  const [successor] = await lockSubscriptions(ctx, [successorId]);
  assert(successor, 'a scheduled successor exists');
  const plan = await getPlanFacts(ctx, successor.plan_id);
  if (!(await waitForPayment(ctx, plan, { successor, zone, at }))) return false;
  const change = { next_billing_at: endOfDay(at, zone) };
  await changeSubscription(ctx, subscription.id, { change, now: ctx.now() });
  return true;
}

/** Ends a subscription at `at` and starts its scheduled successor; the caller bills both. */
export async function changeOver(
  ctx: Context,
  payer: Pick<PayerFacts, 'zone'>,
  subscription: SubscriptionRow & { amount_currency: string; successor_id: string },
  at: Temporal.Instant,
): Promise<ChangedOver> {
  const [successor] = await lockSubscriptions(ctx, [subscription.successor_id]);
  assert(successor, 'a scheduled successor exists');
  const plan = await getPlanFacts(ctx, successor.plan_id);
  await endSubscription(ctx, subscription, { terminated_at: at });
  await changeSubscription(ctx, successor.id, {
    change: {
      status: 'active',
      started_at: at,
      activated_at: at,
      next_billing_at: nextBillingFrom(plan, { ...successor, started_at: at }, payer.zone, at),
    },
    now: ctx.now(),
  });
  await recordSubscription(ctx, 'subscription.terminated', subscription.id);
  await recordSubscription(ctx, 'subscription.started', successor.id);
  await recordStartUnits(ctx, successor, at, payer.zone);

  const isOpened =
    (await bearsOpeningLine(ctx, plan, successor, at)) ||
    (await listPricedCharges(ctx, [successor.plan_id])).some(isRenewed);
  const closing = { ...subscription, reason: 'subscription_terminating' as const };
  const opening = { ...successor, amount_currency: plan.amount_currency, reason: 'subscription_starting' as const };
  return isOpened ? [closing, opening] : [closing];
}
