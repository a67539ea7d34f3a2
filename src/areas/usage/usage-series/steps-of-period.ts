import { Temporal } from 'temporal-polyfill';
import { earlier, type Instant, isAfter, isBefore, later } from '../../../engine/calendar/instants.ts';
import { dayStart, localDate } from '../../../engine/calendar/local-day.ts';
import { lastInstant, type Period } from '../../../engine/calendar/period.ts';
import { type FieldErrors, refuse } from '../../../platform/refusal.ts';
import type { UsageSeriesQuery } from './schema.ts';

/** How many steps a series may have. */
export const MOST_STEPS = 62;

export interface Step {
  /** Day in the zone of the customer, or the hour as an instant. */
  name: string;
  from: Instant;
  to: Instant;
}

const DAY = /^\d{4}-\d\d-\d\d$/;

/**
 * The steps of a series: days of the zone, or hours, within a charges period. Without bounds all of them, or the newest
 * 62 that have begun.
 *
 * @throws Refusal 422 from, to: invalid_date, value_is_out_of_range
 * Rule: console-reads.md#usage-series.
 */
export function stepsOf(query: UsageSeriesQuery, period: Period, zone: string, now: Instant): Step[] {
  const { from, to } = boundsOf(query, period, zone);
  const steps = query.step === 'day' ? daysOf(from, to, zone) : hoursOf(from, to);
  if (steps.length <= MOST_STEPS) return steps;
  if (query.from !== undefined || query.to !== undefined) throw refuse.invalid({ to: ['value_is_out_of_range'] });
  const begun = steps.filter((step) => !isAfter(step.from, now));
  return (begun.length > 0 ? begun : steps.slice(0, 1)).slice(-MOST_STEPS);
}

function boundsOf(query: UsageSeriesQuery, period: Period, zone: string): { from: Instant; to: Instant } {
  const errors: FieldErrors = {};
  const first = localDate(period.from, zone);
  const end = localDate(lastInstant(period), zone).add({ days: 1 });
  const read = (name: 'from' | 'to'): Temporal.PlainDate | undefined => {
    const text = query[name]?.trim();
    if (text === undefined) return undefined;
    const day = DAY.test(text) ? dayOf(text) : undefined;
    if (!day) errors[name] = ['invalid_date'];
    else if (Temporal.PlainDate.compare(day, first) < 0 || Temporal.PlainDate.compare(day, end) > 0)
      errors[name] = ['value_is_out_of_range'];
    return day;
  };
  const [from = first, to = end] = [read('from'), read('to')];
  if (Object.keys(errors).length === 0 && Temporal.PlainDate.compare(from, to) >= 0)
    errors.to = ['value_is_out_of_range'];
  if (Object.keys(errors).length > 0) throw refuse.invalid(errors);
  return { from: later(dayStart(from, zone), period.from), to: earlier(dayStart(to, zone), period.to) };
}

function dayOf(text: string): Temporal.PlainDate | undefined {
  try {
    return Temporal.PlainDate.from(text, { overflow: 'reject' });
  } catch {
    return undefined; // the form was right, the day was not
  }
}

function daysOf(from: Instant, to: Instant, zone: string): Step[] {
  const steps: Step[] = [];
  for (let at = from; isBefore(at, to); ) {
    const day = localDate(at, zone);
    const next = earlier(dayStart(day.add({ days: 1 }), zone), to);
    steps.push({ name: day.toString(), from: at, to: next });
    at = next;
  }
  return steps;
}

function hoursOf(from: Instant, to: Instant): Step[] {
  const steps: Step[] = [];
  for (let at = from; isBefore(at, to); ) {
    const whole = at.round({ smallestUnit: 'hour', roundingMode: 'floor' });
    const next = earlier(whole.add({ hours: 1 }), to);
    steps.push({ name: whole.toString(), from: at, to: next });
    at = next;
  }
  return steps;
}
