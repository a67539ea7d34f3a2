import type { Temporal } from 'temporal-polyfill';
import { isDateAfter, isDateBefore, utcDate } from '../../../engine/calendar/instants.ts';
import type { Granularity, PeriodsQuery } from './schema.ts';
import type { Days } from './totals.ts';

/** Days of a report without a range, today included (analytics.md#usage-and-extra-reports). */
const DAYS_BY_DEFAULT = 30;

/** The requested days: by default up to today and from 30 days before the end. */
export function daysOf({ from_date, to_date }: PeriodsQuery, now: Temporal.Instant): Days {
  const to = to_date ?? utcDate(now);
  return { from: from_date ?? to.subtract({ days: DAYS_BY_DEFAULT - 1 }), to };
}

/** First day of the period that holds a day; weeks begin on Monday. */
export const periodStart = (day: Temporal.PlainDate, granularity: Granularity): Temporal.PlainDate =>
  granularity === 'daily'
    ? day
    : granularity === 'weekly'
      ? day.subtract({ days: day.dayOfWeek - 1 })
      : day.with({ day: 1 });

const LENGTH = { daily: { days: 1 }, weekly: { weeks: 1 }, monthly: { months: 1 } } as const;

/** Last day of the period that starts on a day. */
export const periodEnd = (start: Temporal.PlainDate, granularity: Granularity): Temporal.PlainDate =>
  start.add(LENGTH[granularity]).subtract({ days: 1 });

/** First days of the periods that hold days of a range, ascending. */
export function* eachPeriod({ from, to }: Days, granularity: Granularity): Generator<Temporal.PlainDate> {
  for (let start = periodStart(from, granularity); !isDateAfter(start, to); start = start.add(LENGTH[granularity]))
    yield start;
}

export const laterDay = (a: Temporal.PlainDate, b: Temporal.PlainDate): Temporal.PlainDate =>
  isDateAfter(a, b) ? a : b;
export const earlierDay = (a: Temporal.PlainDate, b: Temporal.PlainDate): Temporal.PlainDate =>
  isDateBefore(a, b) ? a : b;
