import type { Temporal } from 'temporal-polyfill';
import {
  billingDayAfter,
  billingDayFrom,
  billingDaysBetween,
  firstTickOf,
  isDue,
} from '../../../engine/calendar/billing-day.ts';
import { periodHolding } from '../../../engine/calendar/grid.ts';
import { isAfter, isDateAfter, type PlainDate } from '../../../engine/calendar/instants.ts';
import { dayStart, localDate } from '../../../engine/calendar/local-day.ts';
import { gridsOf } from '../../../engine/calendar/terms.ts';
import type { Context } from '../../../platform/context.ts';
import { nextOf } from '../../../platform/db/keyset.ts';
import type { CustomerId } from '../../../platform/ids.ts';
import { periodicJob } from '../../../platform/periodic-job.ts';
import { minuteOf } from '../../../schedule.ts';
import { markWatched } from '../../catalog/usage-thresholds/usage-marks.ts';
import { changeSubscription } from '../../subscriptions/subscriptions/writes.ts';
import { gatherPaidFees } from '../bill-in-advance/gather-paid-fees.ts';
import { buildInvoice } from '../build-invoice/build-invoice.ts';
import { lockPayer, type PayerFacts } from '../build-invoice/payer-and-issuer.ts';
import { applyDowngrade } from './downgrade.ts';
import {
  CustomerItem,
  type DueSubscription,
  dueCustomer,
  earliestBilling,
  listDueCustomers,
  lockDueSubscriptions,
} from './due-subscriptions.ts';
import { invoiceGroups } from './invoice-groups.ts';

/** The timestamp of a run that catches up has the minute of its tick too (periodic-jobs.md). */
const TICK_MINUTE = minuteOf('bill');

/**
 * The periodic run. One item is one customer; subscriptions of a customer that are due together share invoices. Missed
 * days are caught up in order, each with the timestamp of its first tick, and bill what they would have billed then.
 *
 * Rules: periodic-jobs.md#bill, plan-changes.md#downgrade, subscriptions.md#consolidation,
 * billing-periods.md#billing-days.
 */
export const bill = periodicJob({
  name: 'bill',
  item: CustomerItem,
  async select(sql, at, reach, page) {
    const due = await listDueCustomers(sql, at, reach, page);
    return { items: due.filter(({ is_first }) => is_first).map(dueCustomer), next: nextOf(due, page.limit) };
  },
  work: (ctx, item, at) => billCustomer(ctx, item.customer_id, at),
  nextDueAt: async (scope) => (await earliestBilling(scope))[0]!.at,
});

/** Bills everything of a customer that is due at `at`. Running it twice, or ten times at the same time, bills once. */
export async function billCustomer(ctx: Context, customerId: CustomerId, at: Temporal.Instant): Promise<void> {
  // Sent together, carried out in this order: the customer is locked first.
  const [payer, subscriptions] = await Promise.all([
    lockPayer(ctx, customerId),
    lockDueSubscriptions(ctx, customerId, at),
  ]);
  const ended = new Set<string>();
  for (const run of runsOf(subscriptions, payer.zone, at)) {
    const due = run.subscriptions.filter(({ id }) => !ended.has(id));
    const changing = due.filter((subscription) => changesPlan(subscription, payer.zone, run.day));
    for (const subscription of changing) {
      await applyDowngrade(ctx, payer, subscription, run.at);
      ended.add(subscription.id);
    }
    const regular = due.filter((subscription) => !changing.includes(subscription));
    for (const group of invoiceGroups(regular, payer.billing_entity_id)) await billGroup(ctx, payer, group, run.at);
    const ids = regular.filter(({ has_paid_fees }) => has_paid_fees).map(({ id }) => id);
    await gatherPaidFees(ctx, payer, ids, run.at);
  }
  await markBegun(ctx, subscriptions);
  for (const subscription of subscriptions) {
    if (!ended.has(subscription.id)) await scheduleNext(ctx, subscription, payer.zone, at);
  }
}

/**
 * Compares thresholds and alerts with the usage that a period begins with: units carried into it, first flat amounts
 * and events dated ahead.
 *
 * Rules: progressive-billing.md#invoice, everywhere.md#thresholds-at-the-start-of-a-period.
 */
async function markBegun(ctx: Context, subscriptions: readonly DueSubscription[]): Promise<void> {
  const watched = subscriptions.filter(({ is_watched }) => is_watched);
  if (watched.length === 0) return;
  const at = ctx.now().toString();
  const marks = watched.map(({ id }) => ({ organization_id: ctx.organizationId, subscription_id: id, at }));
  await markWatched(ctx.db, marks);
}

interface Run {
  day: PlainDate;
  at: Temporal.Instant;
  subscriptions: DueSubscription[];
}

/** The local days to bill, in order, each with its timestamp and the subscriptions that were due on it. */
function runsOf(subscriptions: readonly DueSubscription[], zone: string, at: Temporal.Instant): Run[] {
  const today = localDate(at, zone);
  const runs = new Map<string, Run>();
  for (const subscription of subscriptions) {
    const first = localDate(subscription.next_billing_at!, zone);
    for (const day of billingDaysBetween(subscription, subscription, zone, first, today)) {
      const tick = firstTickOf(day, zone, TICK_MINUTE);
      const run = runs.get(day.toString()) ?? { day, at: day.equals(today) ? at : tick, subscriptions: [] };
      if (isAfter(tick, at) || !isBilled(subscription, zone, run)) continue;
      run.subscriptions.push(subscription);
      runs.set(day.toString(), run);
    }
  }
  return [...runs.values()].sort((a, b) => (isDateAfter(a.day, b.day) ? 1 : -1));
}

/**
 * Whether the run of a day bills a subscription; after its end the termination does.
 * Rule: billing-periods.md#billing-days.
 */
function isBilled(subscription: DueSubscription, zone: string, { day, at }: Run): boolean {
  const { ending_at, last_recurring_at } = subscription;
  if (ending_at !== null && isDateAfter(day, localDate(ending_at, zone))) return false;
  return isDue({ plan: subscription, subscription, zone, at, lastRecurringAt: last_recurring_at });
}

/**
 * A scheduled change takes over on the first day of a period of the plan that it replaces.
 * Rule: plan-changes.md#downgrade.
 */
const changesPlan = (subscription: DueSubscription, zone: string, day: PlainDate): boolean =>
  subscription.pending_successor_id !== null &&
  periodHolding(gridsOf(subscription, subscription, zone).plan, day).first.equals(day);

async function billGroup(
  ctx: Context,
  payer: PayerFacts,
  group: readonly DueSubscription[],
  at: Temporal.Instant,
): Promise<void> {
  const invoiceId = await buildInvoice(ctx, {
    payer,
    lines: group.map(({ id }) => ({ subscription_id: id, reason: 'subscription_periodic' })),
    at,
    skipUsage: false,
  });
  ctx.log.info(
    { invoiceId, customerId: payer.id, subscriptions: group.length, at: at.toString() },
    'subscriptions billed',
  );
}

/** The next local day on which a visited subscription may be due; today, when its first tick is still to come. */
async function scheduleNext(
  ctx: Context,
  subscription: DueSubscription,
  zone: string,
  at: Temporal.Instant,
): Promise<void> {
  const today = localDate(at, zone);
  const isOver = !isAfter(firstTickOf(today, zone, TICK_MINUTE), at);
  const next = isOver
    ? billingDayAfter(subscription, subscription, zone, at)
    : billingDayFrom(subscription, subscription, zone, today);
  await changeSubscription(ctx, subscription.id, {
    change: { next_billing_at: dayStart(next, zone) },
    now: subscription.updated_at,
  });
}
