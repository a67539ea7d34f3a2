import { assert } from '../assert.ts';
import { type Instant, isAfter, isBefore, wholeSecond } from './instants.ts';

/** A period of time, half-open `[from, to)`. If `from = to` it is empty. */
export interface Period {
  from: Instant;
  to: Instant;
}

/** Stored instants are whole microseconds, so this is the smallest step between them. */
const STEP = { microseconds: 1 };

export function period(from: Instant, to: Instant): Period {
  assert(!isAfter(from, to), 'a period does not end before it starts');
  return { from, to };
}

/**
 * The period from `from` up to and including `last`; empty when `last` is not after `from`.
 *
 * `last` is a period's end as the rules write it (23:59:59.999999, or the instant of a termination, at which an
 * event still counts), so `to` is one microsecond later.
 */
export const periodThrough = (from: Instant, last: Instant): Period => ({
  from,
  to: isAfter(last, from) ? last.add(STEP) : from,
});

/** The last instant in the period; for an empty one its only bound. */
export const lastInstant = ({ from, to }: Period): Instant => (isAfter(to, from) ? to.subtract(STEP) : to);

/** Whether nothing can happen in the period. Rule: billing-periods.md#windows "strict < needed". */
export const isEmpty = ({ from, to }: Period): boolean => !isAfter(to, from);

/** Whether `instant` lies in `[from, to)`. */
export const holds = ({ from, to }: Period, instant: Instant): boolean =>
  !isBefore(instant, from) && isBefore(instant, to);

/** First instant of a period as JSON shows it: cut to seconds. */
export const shownStart = ({ from }: Period): Instant => wholeSecond(from);

/** Last instant of a period as JSON shows it: `…:59Z` at the end of a day, or the second of a termination. */
export const shownEnd = (shown: Period): Instant => wholeSecond(lastInstant(shown));
