import { type Cents, roundToCents, truncateToCents } from '../money/cents.ts';
import { type Decimal, decimal } from '../money/decimal.ts';
import { roundToDigits } from '../money/precision.ts';

/** A fee that may be given back, with the part that progressive invoices had billed before. */
export interface PartlyBilled {
  amountCents: number;
  progressiveCents: number;
}

/** Fractional digits of a note's item. Rule: money-and-days.md#stored-precision. */
const ITEM_DIGITS = 5;

/**
 * The part of a fee's `creditableCents` that the fee itself billed; the part billed by progressive invoices is given
 * back on those.
 *
 *   fee 2400, of which 1200 progressively: of 2400 → 1200, of 1700 → 850
 *
 * Rule: event-corrections.md#usage-billed-progressively.
 */
export const ownPart = ({ amountCents, progressiveCents }: PartlyBilled, creditableCents: number): Cents =>
  progressiveCents === 0
    ? roundToCents(decimal(creditableCents))
    : truncateToCents(
        decimal(creditableCents)
          .times(amountCents - progressiveCents)
          .div(amountCents),
      );

/**
 * The item of a note with which a fee gives back `wantedCents` that it billed itself; the note subtracts the
 * progressive share again.
 *
 *   fee 2400, of which 1200 progressively: 700 → item 1400
 *
 * Rules: event-corrections.md#usage-billed-progressively, credit-note-amounts.md#rounding "share".
 */
export const itemFor = ({ amountCents, progressiveCents }: PartlyBilled, wantedCents: number): Decimal =>
  progressiveCents === 0
    ? decimal(wantedCents)
    : roundToDigits(
        decimal(wantedCents)
          .times(amountCents)
          .div(amountCents - progressiveCents),
        ITEM_DIGITS,
      );
