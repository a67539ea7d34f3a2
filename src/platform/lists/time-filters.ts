import { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import { INVALID_DATE, parseBound } from '../schema/instant-field.ts';
import { textFilter } from './filters.ts';

/** The last instant of a year that Postgres reads in the form it is written. */
const LAST = Temporal.Instant.from('9999-12-31T23:59:59.999999Z');

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Lower bound of a time, a day or an instant; malformed: 422 `invalid_date` (lists.md#filters-and-order). */
export const fromFilter = textFilter.transform((value, context) => bound(value, context, (start) => start));

/**
 * Upper bound of a time, inclusive: becomes an exclusive instant, so that a whole day, or a whole second as lists show
 * it, counts in full.
 */
export const untilFilter = until('second');

/** As untilFilter, for times that are shown in milliseconds. */
export const untilMillisecondFilter = until('millisecond');

function until(shown: 'second' | 'millisecond') {
  return textFilter.transform((value, context) =>
    bound(value, context, (start, text) => {
      const after = DAY.test(text)
        ? start.add({ hours: 24 })
        : start.round({ smallestUnit: shown, roundingMode: 'trunc' }).add({ [`${shown}s`]: 1 });
      return Temporal.Instant.compare(after, LAST) > 0 ? LAST : after;
    }),
  );
}

function bound(
  value: string | undefined,
  context: z.RefinementCtx,
  edge: (start: Temporal.Instant, text: string) => Temporal.Instant,
): Temporal.Instant | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  const start = parseBound(text);
  if (start) return edge(start, text);
  context.addIssue({ code: 'custom', message: INVALID_DATE });
  return z.NEVER;
}
