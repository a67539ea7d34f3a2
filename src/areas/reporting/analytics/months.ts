import type { Temporal } from 'temporal-polyfill';
import { isDateAfter, utcDate } from '../../../engine/calendar/instants.ts';
import { type Cents, roundToCents } from '../../../engine/money/cents.ts';
import { type Decimal, decimal } from '../../../engine/money/decimal.ts';
import type { Days } from './totals.ts';

/** Sums smaller than this are artefacts of the divisions behind them. */
const DIGITS_THAT_COUNT = 10;

/** A sum of amounts as the reports show it: whole cents, half up (analytics.md#common-rules). */
export const shownCents = (amount: Decimal): Cents => roundToCents(amount.toDecimalPlaces(DIGITS_THAT_COUNT));

/** First instant of a month, as the reports name it. */
export const monthText = (month: Temporal.PlainDate): string => `${month}T00:00:00.000Z`;

/**
 * First days of the months that a report covers: the current one and those before, else since the organization exists.
 */
export function monthsOf(now: Temporal.Instant, months: number | undefined, createdAt: Temporal.Instant): Days {
  const to = utcDate(now).with({ day: 1 });
  const created = utcDate(createdAt).with({ day: 1 });
  const from = months === undefined ? created : to.subtract({ months: months - 1 });
  return { from: isDateAfter(from, to) ? to : from, to };
}

/** First days of months, ascending. */
export function* eachMonth({ from, to }: Days): Generator<Temporal.PlainDate> {
  for (let month = from; !isDateAfter(month, to); month = month.add({ months: 1 })) yield month;
}

const WEEKS_A_MONTH = decimal('4.33');

/**
 * Monthly revenue of weekly fees: their average times the weeks of a month.
 *
 *   4 of 10.00 and one of 15.00 → 5 500 / 5 × 4.33 = 4 763
 *
 * Rule: analytics.md#recurring-revenue.
 */
export const weeklyMrr = (amount: Decimal, count: Decimal): Decimal => amount.times(WEEKS_A_MONTH).div(count);
