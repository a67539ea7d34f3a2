import { Temporal } from 'temporal-polyfill';
import type { PlainDate } from '../calendar/instants.ts';

export const TOP_UP_INTERVALS = ['weekly', 'monthly', 'quarterly', 'semiannual', 'yearly'] as const;
export type TopUpInterval = (typeof TOP_UP_INTERVALS)[number];

const MONTHS: Record<Exclude<TopUpInterval, 'weekly'>, number> = {
  monthly: 1,
  quarterly: 3,
  semiannual: 6,
  yearly: 12,
};

/**
 * Whether a rule adds credits on a day: the anniversary of its start, in shorter months the last day, and never before
 * the start.
 *
 *   monthly from 31 January → 28 February, 31 March, 30 April
 *
 * Rule: top-ups.md#recurring-rules "interval".
 */
export function isTopUpDay(interval: TopUpInterval, startedOn: PlainDate, day: PlainDate): boolean {
  if (Temporal.PlainDate.compare(day, startedOn) < 0) return false;
  if (interval === 'weekly') return day.dayOfWeek === startedOn.dayOfWeek;
  const months = 12 * (day.year - startedOn.year) + day.month - startedOn.month;
  return months % MONTHS[interval] === 0 && day.day === Math.min(startedOn.day, day.daysInMonth);
}

/** The first such day on or after `from`. */
export function nextTopUpDay(interval: TopUpInterval, startedOn: PlainDate, from: PlainDate): PlainDate {
  let day = Temporal.PlainDate.compare(from, startedOn) < 0 ? startedOn : from;
  while (!isTopUpDay(interval, startedOn, day)) day = day.add({ days: 1 });
  return day;
}
