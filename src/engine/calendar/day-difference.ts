import type { Instant } from './instants.ts';
import { localDate, wallNanoseconds } from './local-day.ts';
import { lastInstant, type Period } from './period.ts';

const DAY = 86_400_000_000_000n;
const SECOND = 1_000_000_000n;

/**
 * Number of billable days from `from` up to and including the instant `last`, by the local clock of `zone`.
 *
 * From a local midnight this is the number of local dates touched, both ends counted; daylight saving neither adds nor
 * removes a day, and a `last` at exactly midnight counts the day that it opens.
 *
 *   2024-03-15T12:12 to 2024-03-31T23:59:59 → 17
 *
 * Rules: money-and-days.md#day-difference "DD", money-and-days.md#days "days".
 */
export function dayDifference(from: Instant, last: Instant, zone: string): number {
  const start = wallNanoseconds(from, zone);
  const reading = wallNanoseconds(last, zone);
  const end = reading % DAY === 0n ? reading + SECOND : reading;
  return Number(ceilDivide(end - start, DAY));
}

/** Billable days of a period: `dayDifference` up to its last instant. */
export const periodDays = (period: Period, zone: string): number =>
  dayDifference(period.from, lastInstant(period), zone);

/** Number of local dates that a period touches, both ends included, whatever the hour. Rule: usage-fees.md#dates. */
export const localDates = (period: Period, zone: string): number =>
  localDate(lastInstant(period), zone).since(localDate(period.from, zone)).days + 1;

/**
 * Billable days of a subscription in a period. The day of an upgrade belongs to the new subscription, so it does not
 * count for the old one, whose days never become negative.
 *
 *   terminated on the 16th → 16, upgraded away on the 16th → 15
 *
 * Rule: money-and-days.md#days "sub_days".
 */
export const subscriptionDays = (period: Period, zone: string, { upgraded }: { upgraded: boolean }): number =>
  upgraded ? Math.max(periodDays(period, zone) - 1, 0) : periodDays(period, zone);

const ceilDivide = (value: bigint, divisor: bigint): bigint => {
  const quotient = value / divisor;
  return value % divisor > 0n ? quotient + 1n : quotient;
};
