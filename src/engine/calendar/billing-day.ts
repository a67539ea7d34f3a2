import { type Grid, periodAfter, periodHolding } from './grid.ts';
import { type Instant, isDateAfter, isDateBefore, type PlainDate, utcDate } from './instants.ts';
import { dayStart, localDate } from './local-day.ts';
import { gridsOf, type PlanTerms, type SubscriptionTerms, startOf } from './terms.ts';

export interface DueInput {
  plan: PlanTerms;
  subscription: SubscriptionTerms & { status: string; created_at: Instant; ending_at: Instant | null };
  zone: string;
  /** Instant of the run. */
  at: Instant;
  /** Timestamp of the subscription's newest recurring line, if any. */
  lastRecurringAt: Instant | null;
}

/**
 * Whether the periodic run at `at` bills a subscription: its local day opens a period of the grid (a monthly one for a
 * split plan), it is active, started on an earlier day, does not end today and was not billed today.
 *
 * Rule: billing-periods.md#billing-days.
 */
export function isDue({ plan, subscription, zone, at, lastRecurringAt }: DueInput): boolean {
  const today = localDate(at, zone);
  return (
    subscription.status === 'active' &&
    isBillingDay(plan, subscription, zone, today) &&
    isDateBefore(localDate(startOf(subscription), zone), today) &&
    !isDateAfter(utcDate(subscription.created_at), utcDate(at)) &&
    !(subscription.ending_at !== null && localDate(subscription.ending_at, zone).equals(today)) &&
    !(lastRecurringAt !== null && localDate(lastRecurringAt, zone).equals(today))
  );
}

/** Whether a local date opens a period of the grid on which the plan is billed. */
export function isBillingDay(plan: PlanTerms, subscription: SubscriptionTerms, zone: string, date: PlainDate): boolean {
  return periodHolding(gridsOf(plan, subscription, zone).billing, date).first.equals(date);
}

/** First billing day on or after a local date, and after the day of the start. */
export function billingDayFrom(
  plan: PlanTerms,
  subscription: SubscriptionTerms,
  zone: string,
  date: PlainDate,
): PlainDate {
  const grid = gridsOf(plan, subscription, zone).billing;
  const dayAfterStart = localDate(startOf(subscription), zone).add({ days: 1 });
  return firstOpening(grid, isDateAfter(dayAfterStart, date) ? dayAfterStart : date);
}

/** First billing day after the local date of an instant, the next one after a run at `at`. */
export const billingDayAfter = (
  plan: PlanTerms,
  subscription: SubscriptionTerms,
  zone: string,
  at: Instant,
): PlainDate => billingDayFrom(plan, subscription, zone, localDate(at, zone).add({ days: 1 }));

/** Billing days from `from` to `to`, both included, in order: the days that an outage made a subscription miss. */
export function billingDaysBetween(
  plan: PlanTerms,
  subscription: SubscriptionTerms,
  zone: string,
  from: PlainDate,
  to: PlainDate,
): PlainDate[] {
  const days: PlainDate[] = [];
  let day = billingDayFrom(plan, subscription, zone, from);
  while (!isDateAfter(day, to)) {
    days.push(day);
    day = billingDayFrom(plan, subscription, zone, day.add({ days: 1 }));
  }
  return days;
}

const HOUR = 3_600_000_000_000n;
const MINUTE = 60_000_000_000n;

/**
 * The first hourly tick, at `minute` past the hour in UTC, that is not before the start of a local date: the timestamp
 * with which the run of that day bills, also when it is caught up later.
 *
 *   2024-04-01 in Europe/Paris, minute 10 → 2024-03-31T22:10Z
 */
export function firstTickOf(date: PlainDate, zone: string, minute: number): Instant {
  const start = dayStart(date, zone);
  const offset = BigInt(minute) * MINUTE;
  const sinceTick = (((start.epochNanoseconds - offset) % HOUR) + HOUR) % HOUR;
  return sinceTick === 0n ? start : start.add({ nanoseconds: Number(HOUR - sinceTick) });
}

const firstOpening = (grid: Grid, date: PlainDate): PlainDate => {
  const holding = periodHolding(grid, date);
  return holding.first.equals(date) ? date : periodAfter(grid, holding).first;
};
