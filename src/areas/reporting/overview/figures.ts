import type { Temporal } from 'temporal-polyfill';
import { utcDate } from '../../../engine/calendar/instants.ts';
import { type Cents, cents, sumCents } from '../../../engine/money/cents.ts';
import { Decimal, decimal, sum } from '../../../engine/money/decimal.ts';
import { groupRows } from '../../../platform/lists/group-rows.ts';
import { shownCents } from '../analytics/months.ts';
import type { Stream } from '../analytics/schema.ts';
import type { Days } from '../analytics/totals.ts';

/** Days of which the overview sums revenue, in UTC. */
export interface Windows {
  monthToDate: Days;
  /** From the first to today's number, at most to the end of the month. */
  sameDaysLastMonth: Days;
  lastMonth: Days;
}

export function windowsAt(now: Temporal.Instant): Windows {
  const today = utcDate(now);
  const from = today.with({ day: 1 });
  const before = from.subtract({ months: 1 });
  return {
    monthToDate: { from, to: today },
    sameDaysLastMonth: { from: before, to: before.with({ day: today.day }) },
    lastMonth: { from: before, to: from.subtract({ days: 1 }) },
  };
}

const RATE_DIGITS = 4;

/**
 * Share of this month's invoiced amounts that was collected, half up; null if nothing was invoiced.
 *
 *   succeeded 18 000, pending 3 000, failed 0 → 0.8571
 */
export function collectionRate(amounts: { succeeded: Cents; pending: Cents; failed: Cents }): string | null {
  const total = sumCents(Object.values(amounts));
  if (total <= 0) return null;
  return decimal(amounts.succeeded).div(total).toFixed(RATE_DIGITS, Decimal.ROUND_HALF_UP);
}

export interface StreamRow {
  start: Temporal.PlainDate;
  key: Stream;
  amount: Decimal;
}

/** Streams that make up net revenue; what customers paid in advance was earned before and is none of it. */
const SIGNS: Partial<Record<Stream, 1 | -1>> = {
  usage_based_fee: 1,
  subscription_fee: 1,
  commitment_fee: 1,
  one_off_fee: 1,
  coupons: -1,
  credit_notes_credits: -1,
  free_credits: -1,
};

/** Net revenue of a currency in a window: each stream is rounded, as the report of revenue streams rounds it. */
export function netRevenue(rows: readonly StreamRow[], { from, to }: Days): Cents {
  const [first, last] = [from.toString(), to.toString()];
  const inWindow = rows.filter(({ start }) => first <= start.toString() && start.toString() <= last);
  const streams = [...groupRows(inWindow, ({ key }) => key)].map(([key, ofKey]) =>
    cents(shownCents(sum(ofKey.map((row) => row.amount))) * (SIGNS[key] ?? 0)),
  );
  return sumCents(streams);
}
