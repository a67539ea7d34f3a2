import type { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import { isBefore, isDateBefore } from '../../../engine/calendar/instants.ts';
import { dayEnd, dayStart, localDate } from '../../../engine/calendar/local-day.ts';
import type { Period } from '../../../engine/calendar/period.ts';
import { startOf } from '../../../engine/calendar/terms.ts';
import { AmountOutOfRange, cents, sumCents } from '../../../engine/money/cents.ts';
import { decimalText } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import { selected } from '../../../platform/db/keyset.ts';
import type { SubscriptionId } from '../../../platform/ids.ts';
import { periodicJob } from '../../../platform/periodic-job.ts';
import { idOf } from '../../../platform/schema/id.ts';
import { listShown, type SubscriptionShown } from '../../subscriptions/subscriptions/queries.ts';
import { keepDailyUsage, listNewestSnapshots } from '../daily-usage/queries.ts';
import { differenceOf, type SnapshotEntry, snapshotOf } from '../daily-usage/snapshot.ts';
import { listPricedCharges } from '../usage/priced-charges.ts';
import { usageOf, usagePeriod } from '../usage/subscription-usage.ts';
import {
  type ClosedWindow,
  earliestLook,
  listBilledUsage,
  listClosedWindows,
  listSubscriptionsToLookAt,
  noteLook,
  readLastReceived,
} from './usage-to-snapshot.ts';

/**
 * Stores a subscription's usage up to the end of yesterday, local time, in the charges period that held yesterday. The
 * snapshot of a period's last day equals its invoice and follows a draft until it is final. Usage that is unchanged or
 * whose fees are all zero makes no snapshot.
 *
 * Rules: usage-reads.md#daily-usage, periodic-jobs.md#daily-usage.
 */
export const dailyUsage = periodicJob({
  name: 'daily-usage',
  item: z.object({ subscription_id: idOf<SubscriptionId>() }),
  select: async (sql, at, reach, page) =>
    selected(
      await listSubscriptionsToLookAt(sql, at, reach, page),
      page,
      ({ organization_id, sandbox, id, since }) => ({
        organization_id,
        sandbox,
        item: { subscription_id: id },
        key: `${id}-${since}`,
        resource: { type: 'Subscription', id },
      }),
    ),
  work: (ctx, item, at) => look(ctx, item.subscription_id, at),
  nextDueAt: (scope) => earliestLook(scope),
});

async function look(ctx: Context, subscriptionId: SubscriptionId, at: Temporal.Instant): Promise<void> {
  const [subscription] = await listShown(ctx, [subscriptionId]);
  if (subscription?.status !== 'active') return;
  const { zone } = subscription;
  const today = localDate(at, zone);
  const opening = dayStart(today, zone);
  const closed = await listClosedWindows(ctx, subscriptionId, opening);
  for (const window of closed) await snapshotIfCountable(ctx, subscription, window, lastDayOf(window, zone));
  // A subscription that received an event today is counted after the day has ended. In the first local hour it is
  // counted anyway: the day of receipt is kept in UTC, and an event of the local yesterday may have today's.
  const receivedOn = await readLastReceived(ctx, subscriptionId);
  const isDue = at.toZonedDateTimeISO(zone).hour === 0 || (receivedOn !== null && isDateBefore(receivedOn, today));
  if (isDue && isBefore(startOf(subscription), opening)) {
    const { period } = usagePeriod(subscription, opening.subtract({ microseconds: 1 }));
    if (!closed.some(({ to }) => to.equals(period.to)))
      await snapshotIfCountable(ctx, subscription, { ...period, invoice_id: null }, today.subtract({ days: 1 }));
  }
  const { period } = usagePeriod(subscription, at);
  const opensToday = !isBefore(period.from, opening);
  await noteLook(ctx, subscriptionId, {
    lookedAt: at,
    nextDayAt: dayEnd(today, zone),
    // The first day of the next period has passed without being read: events may arrive before they count.
    nextLookAt: dayEnd(localDate(opensToday ? period.from : period.to, zone), zone),
  });
}

const lastDayOf = ({ to }: Period, zone: string) => localDate(to.subtract({ microseconds: 1 }), zone);

// Usage that overflows an amount would fail every time; the invoice reports it.
export async function snapshotIfCountable(...args: Parameters<typeof snapshot>): Promise<void> {
  const [ctx, { id }] = args;
  try {
    await snapshot(...args);
  } catch (error) {
    if (!(error instanceof AmountOutOfRange)) throw error;
    ctx.log.warn({ subscriptionId: id, err: error.message }, 'usage of a day not kept');
  }
}

async function snapshot(
  ctx: Context,
  subscription: SubscriptionShown,
  window: ClosedWindow,
  day: Temporal.PlainDate,
): Promise<void> {
  const entries = await entriesOf(ctx, subscription, window);
  const [newest, older] = await listNewestSnapshots(ctx, subscription.id, { period: window, day });
  if (newest === undefined && entries.every(({ amount_cents }) => amount_cents === 0)) return;
  if (differenceOf(entries, newest?.usage ?? []).length === 0) return;
  const former = newest?.usage_date.equals(day) ? older : newest;
  await keepDailyUsage(
    ctx,
    {
      customer_id: subscription.customer_id,
      subscription_id: subscription.id,
      external_subscription_id: subscription.external_id,
      usage_date: day,
      from_datetime: window.from,
      to_datetime: window.to,
      amount_currency: subscription.plan_amount_currency,
      amount_cents: sumCents(entries.map(({ amount_cents }) => cents(amount_cents))),
      usage: entries,
      usage_diff: differenceOf(entries, former?.usage ?? []),
    },
    ctx.now(),
  );
}

/** Usage of a window: as a final invoice bills it, else as it is counted now. */
async function entriesOf(
  ctx: Context,
  subscription: SubscriptionShown,
  window: ClosedWindow,
): Promise<SnapshotEntry[]> {
  const { from, to, invoice_id } = window;
  const charges = await listPricedCharges(ctx, [subscription.plan_id]);
  const proration = { ...usagePeriod(subscription, to.subtract({ microseconds: 1 })), period: { from, to } };
  const counted = invoice_id === null ? charges : charges.filter((charge) => charge.pay_in_advance);
  const entries = snapshotOf(await usageOf(ctx, subscription, counted, { proration }));
  if (invoice_id === null) return entries;
  const billed = await listBilledUsage(ctx, subscription.id, invoice_id);
  return [...entries, ...billed.map((entry) => ({ ...entry, units: decimalText(entry.units) }))];
}
