import { Temporal } from 'temporal-polyfill';
import type { Instant, PlainDate } from './instants.ts';
import { type Period, period } from './period.ts';

/**
 * Cache of the first instants of local days, by zone and day. Computing one takes about 4 µs, and billing needs the
 * same few hundred many times.
 */
const starts = new Map<string, Map<string, Instant>>();
const MAX_DAYS_PER_ZONE = 2_000;

/** Calendar date of an instant in a zone. */
export const localDate = (instant: Instant, zone: string): PlainDate => instant.toZonedDateTimeISO(zone).toPlainDate();

/**
 * First existing instant of a local date: midnight, or the first valid instant where clocks skip midnight. A date that
 * the zone skipped altogether starts, and ends, with the next one.
 *
 *   2018-11-04 in America/Sao_Paulo → 01:00 local
 *
 * Rule: money-and-days.md#billing-conventions "day start".
 */
export function dayStart(date: PlainDate, zone: string): Instant {
  const ofZone = startsIn(zone);
  const key = date.toString();
  const known = ofZone.get(key);
  if (known !== undefined) return known;

  const start = date.toZonedDateTime(zone).toInstant();
  if (ofZone.size >= MAX_DAYS_PER_ZONE) ofZone.clear();
  ofZone.set(key, start);
  return start;
}

function startsIn(zone: string): Map<string, Instant> {
  const known = starts.get(zone);
  if (known !== undefined) return known;

  const empty = new Map<string, Instant>();
  starts.set(zone, empty);
  return empty;
}

/** First instant after a local date, which is the first of the next one. */
export const dayEnd = (date: PlainDate, zone: string): Instant => dayStart(date.add({ days: 1 }), zone);

/** The local days `first` to `last`, both included, as a period. */
export const daysPeriod = (first: PlainDate, last: PlainDate, zone: string): Period =>
  period(dayStart(first, zone), dayEnd(last, zone));

/** Nanoseconds on the local clock, read as if it had no offset; daylight saving does not stretch them. */
export function wallNanoseconds(instant: Instant, zone: string): bigint {
  const local = instant.toZonedDateTimeISO(zone);
  return instant.epochNanoseconds + BigInt(local.offsetNanoseconds);
}

/** The instant `days` local days earlier at the same local time. */
export const daysBefore = (instant: Instant, days: number, zone: string): Instant =>
  instant.toZonedDateTimeISO(zone).subtract({ days }).toInstant();

/** Matches names only, because Temporal would also accept an offset or a whole timestamp as a zone. */
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+/-]*$/;

/** Whether a text is the name of a time zone that the runtime knows. */
export function isZone(zone: string): boolean {
  if (!ZONE_NAME.test(zone)) return false;
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone);
    return true;
  } catch {
    return false; // there is no other way to check
  }
}
