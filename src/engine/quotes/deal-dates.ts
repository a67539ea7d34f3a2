import { Temporal } from 'temporal-polyfill';
import { dayStart, localDate } from '../calendar/local-day.ts';

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** A day from a deal's text: a bare date is that day, an instant the day on which it falls in `zone`. */
export const dealDay = (text: string, zone: string): Temporal.PlainDate =>
  DAY.test(text) ? Temporal.PlainDate.from(text) : localDate(Temporal.Instant.from(text), zone);

/** The instant of a deal's text: a bare date is the start of that day in `zone`. Rule: quotes.md#execution. */
export const dealInstant = (text: string, zone: string): Temporal.Instant =>
  DAY.test(text) ? dayStart(Temporal.PlainDate.from(text), zone) : Temporal.Instant.from(text);

/**
 * Earliest end of a part of a deal; null if nothing ends. Forms expire and orders are executed strictly before it.
 * Rule: quotes.md#routes "after_deal_expiration".
 */
export function earliestEnd(texts: readonly string[], zone: string): Temporal.PlainDate | null {
  return texts
    .map((text) => dealDay(text, zone))
    .reduce<Temporal.PlainDate | null>(
      (first, day) => (first === null || Temporal.PlainDate.compare(day, first) < 0 ? day : first),
      null,
    );
}
