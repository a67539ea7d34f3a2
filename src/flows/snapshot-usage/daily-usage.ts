import type { Temporal } from 'temporal-polyfill';
import { isBefore, isDateBefore } from '../../engine/calendar/instants.ts';
import { dayEnd, dayStart, localDate } from '../../engine/calendar/local-day.ts';
import { startOf } from '../../engine/calendar/terms.ts';
import { AmountOutOfRange } from '../../engine/money/cents.ts';
import type { Context } from '../../platform/context.ts';
import type { PeriodicJob } from '../../platform/periodic-job.ts';
import { findNewestSnapshot, insertDailyUsage } from '../../resources/daily-usage/queries.ts';
import { differenceOf, snapshotOf } from '../../resources/daily-usage/snapshot.ts';
import { listShown, type SubscriptionShown } from '../../resources/subscriptions/queries.ts';
import { amountOf, usagePeriod, wholeUsageOf } from '../../resources/usage/subscription-usage.ts';
import { earliestLook, listSubscriptionsToLookAt, noteLook, readLastReceived } from './sql.ts';

/**
 * Keeps what a subscription used up to the end of yesterday, local time: of the charges period that held yesterday, so that
 * the snapshot after a period's last day is what its invoice bills. Usage without a fee that is not zero, or that is the
 * same as before, makes no snapshot.
 *
 * Rules: usage-and-charges G.7, platform L `daily-usage`.
 */
export const dailyUsage: PeriodicJob = {
  name: 'daily-usage',
  select: async (sql, at, scope, limit) =>
    (await listSubscriptionsToLookAt(sql, at, scope, limit)).map(({ organization_id, sandbox, id, since }) => ({
      organization_id,
      sandbox,
      item: { subscription_id: id },
      key: `${id}-${since}`,
      resource: { type: 'Subscription', id },
    })),
  work: (ctx, item, at) => look(ctx, (item as { subscription_id: string }).subscription_id, at),
  nextDueAt: (db, organizationId) => earliestLook(db, organizationId),
};

async function look(ctx: Context, subscriptionId: string, at: Temporal.Instant): Promise<void> {
  const [subscription] = await listShown(ctx.db, ctx.organizationId, [subscriptionId]);
  if (subscription?.status !== 'active') return;
  const { zone } = subscription;
  const today = localDate(at, zone);
  const yesterday = today.subtract({ days: 1 });
  const lastInstant = dayStart(today, zone).subtract({ microseconds: 1 });
  // An event of today waits for the day to be over. In the first hour it may be one of yesterday, whose UTC day is today.
  const receivedOn = await readLastReceived(ctx.db, ctx.organizationId, subscriptionId);
  const isDue = at.toZonedDateTimeISO(zone).hour === 0 || (receivedOn !== null && isDateBefore(receivedOn, today));
  if (isDue && isBefore(startOf(subscription), dayStart(today, zone)))
    await snapshotIfCountable(ctx, subscription, yesterday, lastInstant);
  const { period } = usagePeriod(subscription, at);
  const opensToday = !isBefore(period.from, dayStart(today, zone));
  await noteLook(ctx.db, ctx.organizationId, subscriptionId, {
    lookedAt: at,
    nextDayAt: dayEnd(today, zone),
    // The first day of the next period of which nothing was read has gone by: events may have come before they count.
    nextLookAt: dayEnd(localDate(opensToday ? period.from : period.to, zone), zone),
  });
}

// Usage that no amount can hold would fail every time: it is told by the invoice.
async function snapshotIfCountable(...args: Parameters<typeof snapshot>): Promise<void> {
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
  day: Temporal.PlainDate,
  lastInstant: Temporal.Instant,
): Promise<void> {
  const { db, organizationId } = ctx;
  const { period } = usagePeriod(subscription, lastInstant);
  const usage = await wholeUsageOf(ctx, subscription, lastInstant);
  const entries = snapshotOf(usage);
  if (entries.every(({ amount_cents }) => amount_cents === 0)) return;
  const former = await findNewestSnapshot(db, organizationId, subscription.id, period.from);
  const difference = differenceOf(entries, former?.usage ?? []);
  if (difference.length === 0) return;
  await insertDailyUsage(
    db,
    organizationId,
    {
      customer_id: subscription.customer_id,
      subscription_id: subscription.id,
      external_subscription_id: subscription.external_id,
      usage_date: day,
      from_datetime: period.from,
      to_datetime: period.to,
      amount_currency: subscription.plan_amount_currency,
      amount_cents: amountOf(usage),
      usage: entries,
      usage_diff: difference,
    },
    ctx.now(),
  );
}
