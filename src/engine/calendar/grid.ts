import { Temporal } from 'temporal-polyfill';
import type { Instant } from './instants.ts';
import { isDateAfter, type PlainDate } from './instants.ts';
import { localDate } from './local-day.ts';

export const INTERVALS = ['weekly', 'monthly', 'quarterly', 'semiannual', 'yearly'] as const;
export type Interval = (typeof INTERVALS)[number];

export const BILLING_TIMES = ['calendar', 'anniversary'] as const;
export type BillingTime = (typeof BILLING_TIMES)[number];

/** The endless sequence of billing periods of one interval, counted from one anchor day. */
export interface Grid {
  interval: Interval;
  anchor: PlainDate;
}

/** Local days `first` to `last`, both included. */
export interface DateRange {
  first: PlainDate;
  last: PlainDate;
}

/** A Monday that is the first of a month and of a year: every interval anchored here follows the calendar. */
const CALENDAR_ANCHOR = Temporal.PlainDate.from('2001-01-01');

const MONTHS: Record<Exclude<Interval, 'weekly'>, number> = { monthly: 1, quarterly: 3, semiannual: 6, yearly: 12 };

/** The grid of a subscription, anchored on the local date of `subscription_at` when it bills on anniversaries. */
export const gridOf = (
  interval: Interval,
  subscription: { billing_time: BillingTime; subscription_at: Instant },
  zone: string,
): Grid => ({
  interval,
  anchor: subscription.billing_time === 'calendar' ? CALENDAR_ANCHOR : localDate(subscription.subscription_at, zone),
});

/**
 * The period of a grid that holds a date.
 *
 * The day of the month always comes from the anchor, limited to the month's length, and never from the previous period:
 * 31 January, 29 February, 31 March. A period ends the day before the next one starts.
 *
 * Rule: billing-periods.md#grids.
 */
export function periodHolding(grid: Grid, date: PlainDate): DateRange {
  return grid.interval === 'weekly'
    ? weekHolding(grid.anchor, date)
    : monthsHolding(grid.anchor, MONTHS[grid.interval], date);
}

export const periodBefore = (grid: Grid, { first }: DateRange): DateRange =>
  periodHolding(grid, first.subtract({ days: 1 }));
export const periodAfter = (grid: Grid, { last }: DateRange): DateRange => periodHolding(grid, last.add({ days: 1 }));

/** Number of days of a range, both ends counted. */
export const dayCount = ({ first, last }: DateRange): number => first.until(last, { largestUnit: 'day' }).days + 1;

function weekHolding(anchor: PlainDate, date: PlainDate): DateRange {
  const into = modulo(date.dayOfWeek - anchor.dayOfWeek, 7);
  const first = date.subtract({ days: into });
  return { first, last: first.add({ days: 6 }) };
}

function monthsHolding(anchor: PlainDate, months: number, date: PlainDate): DateRange {
  const month = monthNumber(date);
  const candidate = month - modulo(month - monthNumber(anchor), months);
  const start = isDateAfter(anniversary(anchor.day, candidate), date) ? candidate - months : candidate;
  return { first: anniversary(anchor.day, start), last: anniversary(anchor.day, start + months).subtract({ days: 1 }) };
}

/** Months since year 0, so that month arithmetic is integer arithmetic. */
const monthNumber = (date: PlainDate): number => date.year * 12 + date.month - 1;

const anniversary = (day: number, month: number): PlainDate =>
  Temporal.PlainDate.from(
    { year: Math.floor(month / 12), month: modulo(month, 12) + 1, day },
    { overflow: 'constrain' },
  );

const modulo = (value: number, divisor: number): number => ((value % divisor) + divisor) % divisor;
