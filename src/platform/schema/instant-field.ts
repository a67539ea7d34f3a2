import { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import { INSTANT_MAX } from './sizes.ts';

export const INVALID_DATE = 'invalid_date';
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const WITHOUT_OFFSET = /^\d{4}-\d{2}-\d{2}[T ]\d{2}(:?\d{2}){0,2}([.,]\d+)?$/;

/** Instants that Postgres writes as it reads them: years 1 to 9999. */
const WRITABLE = ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999999Z'].map((text) => Temporal.Instant.from(text));
/**
 * Range of stored instants: an instant a time zone, a period, a trial or a payment term away from them can still be
 * written.
 */
const COUNTABLE = ['1000-01-01T00:00:00Z', '8999-12-31T23:59:59.999999Z'].map((text) => Temporal.Instant.from(text));

/**
 * ISO 8601 instant, cut to the microseconds that Postgres keeps; without offset read as UTC, a day alone as its
 * midnight (json.md "timestamps in"). Undefined if malformed or outside the years 1000 to 8999, the range of stored
 * instants.
 */
export const parseInstant = (text: string): Temporal.Instant | undefined => within(COUNTABLE, readInstant(text));

/** The same for a time that is only compared with rows: years 1 to 9999. */
export const parseBound = (text: string): Temporal.Instant | undefined => within(WRITABLE, readInstant(text));

const within = ([first, last]: Temporal.Instant[], at: Temporal.Instant | undefined): Temporal.Instant | undefined =>
  at !== undefined && Temporal.Instant.compare(at, first!) >= 0 && Temporal.Instant.compare(at, last!) <= 0
    ? at
    : undefined;

function readInstant(text: string): Temporal.Instant | undefined {
  const trimmed = text.trim();
  if (trimmed.length > INSTANT_MAX) return undefined;
  const zoned = DAY.test(trimmed) ? `${trimmed}T00:00:00Z` : WITHOUT_OFFSET.test(trimmed) ? `${trimmed}Z` : trimmed;
  try {
    return Temporal.Instant.from(zoned).round({ smallestUnit: 'microsecond', roundingMode: 'trunc' });
  } catch {
    return undefined; // there is no other way to check
  }
}

/** Instant of an input, converted to UTC text because inputs of commands travel as JSON. Malformed: `invalid_date`. */
export const instantField = () =>
  z
    .string(INVALID_DATE)
    .max(INSTANT_MAX, INVALID_DATE)
    .transform((value, context) => {
      const instant = parseInstant(value);
      if (instant !== undefined) return instant.toString();
      context.addIssue({ code: 'custom', message: INVALID_DATE });
      return z.NEVER;
    });
