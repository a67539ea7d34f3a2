import { type Cents, roundToCents } from '../money/cents.ts';
import { type Decimal, decimal } from '../money/decimal.ts';
import { PRECISE_AMOUNT_DIGITS, roundToDigits } from '../money/precision.ts';

export interface SpendingMinimumInput {
  /** For a whole period. */
  min_amount_cents: number;
  /** Days of the whole period, and those billed. */
  periodDays: number;
  billedDays: number;
  /** Sum of all fees of the charge in the window, over every filter and group. */
  usedCents: Cents;
  usedPreciseCents: Decimal;
}

export interface TrueUp {
  amountCents: Cents;
  /** With the 15 decimals that are stored. */
  preciseAmountCents: Decimal;
}

/**
 * The gap to the spending minimum of a charge, prorated to the billed days; undefined if there is none.
 *
 *   minimum 1000, 25 of 28 days, used 800 → 92.857 → 93
 *
 * Rules: minimums.md#spending-minimum, minimums.md#true-up.
 */
export function spendingTrueUp(input: SpendingMinimumInput): TrueUp | undefined {
  const due = decimal(input.min_amount_cents).times(input.billedDays).div(input.periodDays);
  if (!due.gt(input.usedCents)) return undefined;
  return {
    amountCents: roundToCents(due.minus(input.usedCents)),
    preciseAmountCents: roundToDigits(due.minus(input.usedPreciseCents), PRECISE_AMOUNT_DIGITS),
  };
}
