import type { Temporal } from 'temporal-polyfill';
import { assert } from '../../../engine/assert.ts';
import { dayStart, localDate } from '../../../engine/calendar/local-day.ts';
import { Busy } from '../../../platform/busy.ts';
import type { Context } from '../../../platform/context.ts';
import { Refusal } from '../../../platform/refusal.ts';
import { recordSubscription } from '../../subscriptions/subscriptions/announce.ts';
import { endReplaced } from '../../subscriptions/subscriptions/commands/end-replaced.ts';
import { BILL_STEP, type BillStep } from '../../subscriptions/subscriptions/commands/start.ts';
import type { SubscriptionRow } from '../../subscriptions/subscriptions/queries.ts';
import { changeSubscription, getPlanFacts, lockSubscriptions } from '../../subscriptions/subscriptions/writes.ts';
import { endOfDay } from '../bill-subscriptions/downgrade.ts';
import { wasRenewedSince } from './gated-subscriptions.ts';

/**
 * Ends the subscription that ran on while its successor waited for its payment, now that it is paid, and owes its
 * closing invoice. A downgrade on its day closes the past period; a later downgrade and an upgrade give back what was
 * paid in advance.
 *
 * Rules: plan-changes.md#upgrade, plan-changes.md#downgrade, activation-rules.md.
 */
export async function handOver(ctx: Context, successor: SubscriptionRow, zone: string): Promise<void> {
  const former = await lockFormer(ctx, successor);
  if (!former) return;
  assert(successor.started_at, 'a subscription that waits has started');
  const plan = await getPlanFacts(ctx, former.plan_id);
  const isMidway =
    successor.switch_kind === 'upgrade' ||
    (await wasRenewedSince(ctx, former.id, localDate(successor.started_at, zone)));
  await endReplaced(ctx, former, plan, { isMidway }).catch((error: unknown) => {
    // The payment has arrived, so the change does not wait for taxes.
    if (error instanceof Refusal) throw new Busy(String(error.body.code));
    throw error;
  });
  await recordSubscription(ctx, 'subscription.terminated', former.id);
  const payload: BillStep = {
    lines: [{ subscription_id: former.id, reason: 'subscription_terminating' }],
    at: ctx.now().add({ seconds: 1 }).toString(),
  };
  ctx.after({ step: BILL_STEP, payload });
}

/**
 * The former subscription goes on as if no change had been requested; a run that was put off to the end of its day is
 * due again.
 */
export async function keepFormer(ctx: Context, successor: SubscriptionRow, zone: string): Promise<void> {
  const former = await lockFormer(ctx, successor);
  const startedAt: Temporal.Instant | null = successor.started_at;
  if (!former || startedAt === null || !former.next_billing_at?.equals(endOfDay(startedAt, zone))) return;
  const change = { next_billing_at: dayStart(localDate(startedAt, zone), zone) };
  await changeSubscription(ctx, former.id, { change, now: ctx.now() });
}

async function lockFormer(
  ctx: Context,
  { previous_subscription_id: id }: SubscriptionRow,
): Promise<SubscriptionRow | undefined> {
  if (id === null) return undefined;
  const [former] = await lockSubscriptions(ctx, [id]);
  return former?.status === 'active' ? former : undefined;
}
