import { Temporal } from 'temporal-polyfill';
import { z } from 'zod';

const INVALID_DATE = 'invalid_date';
const FOUR_DIGIT_YEAR = /^(?!0000)\d{4}-/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const WITHOUT_OFFSET = /^\d{4}-\d{2}-\d{2}[T ]\d{2}(:?\d{2}){0,2}([.,]\d+)?$/;

/**
 * ISO 8601 instant, cut to the microseconds that Postgres keeps; without offset read as UTC, a day alone as its midnight
 * (platform E "timestamps in"). Undefined when malformed, or outside the years 1 to 9999, which
 * Postgres would write otherwise.
 */
export function parseInstant(text: string): Temporal.Instant | undefined {
  const trimmed = text.trim();
  const zoned = DAY.test(trimmed) ? `${trimmed}T00:00:00Z` : WITHOUT_OFFSET.test(trimmed) ? `${trimmed}Z` : trimmed;
  try {
    const instant = Temporal.Instant.from(zoned).round({ smallestUnit: 'microsecond', roundingMode: 'trunc' });
    return FOUR_DIGIT_YEAR.test(instant.toString()) ? instant : undefined;
  } catch {
    return undefined; // the only way to ask
  }
}

/** Instant of an input; comes out as UTC text, since inputs of commands travel as JSON. Malformed: `invalid_date`. */
export const instantField = () =>
  z.string(INVALID_DATE).transform((value, context) => {
    const instant = parseInstant(value);
    if (instant !== undefined) return instant.toString();
    context.addIssue({ code: 'custom', message: INVALID_DATE });
    return z.NEVER;
  });
