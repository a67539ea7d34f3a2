import { Temporal } from 'temporal-polyfill';
import { type Instant, isBefore } from '../calendar/instants.ts';
import { dayEnd, dayStart, localDate } from '../calendar/local-day.ts';

const EPOCH = Temporal.PlainDate.from('1970-01-01');

/**
 * Returns a function that numbers local days consecutively. Computing a day takes about 20 µs, so the last one is
 * cached; for ordered events each day is computed once.
 */
export function dayNumbers(zone: string): (instant: Instant) => number {
  let known: { from: Instant; to: Instant; number: number } | undefined;
  return (instant) => {
    if (known !== undefined && !isBefore(instant, known.from) && isBefore(instant, known.to)) return known.number;
    const date = localDate(instant, zone);
    known = { from: dayStart(date, zone), to: dayEnd(date, zone), number: EPOCH.until(date).days };
    return known.number;
  };
}
