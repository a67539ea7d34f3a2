import type { DateRange } from '../calendar/grid.ts';
import { dayCount } from '../calendar/grid.ts';
import { isDateAfter, type PlainDate } from '../calendar/instants.ts';
import { Decimal, decimal, max, min, ZERO } from '../money/decimal.ts';

const ITEM_DIGITS = 5;

export interface UnusedDaysInput {
  /** Price of the whole period, in cents. */
  planAmountCents: number;
  /** What was billed for it. */
  feeAmountCents: number;
  /** The amount of the fee that earlier notes gave back. */
  creditedCents: number;
  /** The period that contains the day of the end. */
  period: DateRange;
  /** First day that the fee bills. */
  billedFrom: PlainDate;
  endedOn: PlainDate;
  /**
   * Whether the day of the end counts as used: the day of an upgrade belongs to the new plan, that of a termination to
   * the old one.
   */
  isUpgrade: boolean;
  /** Day on which the trial ends, if there is one. */
  trialEndsOn?: PlainDate | undefined;
}

export interface UnusedDays {
  /** The amount to give back before coupons and taxes, truncated to 5 decimals; 0 if there is nothing. */
  unusedCents: Decimal;
  /** The amount of the used days, in the same way. */
  usedCents: Decimal;
}

/**
 * The value of the unused days of a period paid in advance.
 *
 *   3100 in October, ended on the 15th → 16 days of 100, 1600; upgraded on the 15th → 1700
 *   20000 a month of 30 days, 29 unused → 19333.33333
 *
 * Rules: credit-note-amounts.md#automatic-notes, termination.md#credit-for-unused-days.
 */
export function unusedDays(input: UnusedDaysInput): UnusedDays {
  const { period, endedOn, trialEndsOn } = input;
  const dayPrice = decimal(input.planAmountCents).div(dayCount(period));
  const countedFrom = input.isUpgrade ? endedOn.subtract({ days: 1 }) : endedOn;
  const isHeldByTrial = trialEndsOn !== undefined && !isDateAfter(countedFrom, trialEndsOn);
  const from = isHeldByTrial ? earlierDay(trialEndsOn.subtract({ days: 1 }), period.last) : countedFrom;
  const worth = dayPrice.times(Math.max(daysUntil(from, period.last), 0));
  const left = min(worth, decimal(input.feeAmountCents)).minus(input.creditedCents);

  const usedFrom =
    trialEndsOn !== undefined && isDateAfter(trialEndsOn, input.billedFrom) ? trialEndsOn : input.billedFrom;
  const usedDays = Math.max(daysUntil(usedFrom, endedOn) + 1, 0);
  return { unusedCents: cut(max(left, ZERO)), usedCents: cut(dayPrice.times(usedDays)) };
}

const daysUntil = (from: PlainDate, to: PlainDate): number => from.until(to, { largestUnit: 'day' }).days;

const earlierDay = (a: PlainDate, b: PlainDate): PlainDate => (isDateAfter(a, b) ? b : a);

const cut = (value: Decimal): Decimal => value.toDecimalPlaces(ITEM_DIGITS, Decimal.ROUND_DOWN);
