import { type Cents, roundToCents } from '../money/cents.ts';
import { type Decimal, decimal, sum } from '../money/decimal.ts';
import { PRECISE_AMOUNT_DIGITS, roundToDigits } from '../money/precision.ts';
import type { Tax } from './tax.ts';

export interface TaxedAmount {
  amountCents: Cents;
  preciseAmountCents: Decimal;
  /** Share of coupons and progressive credits, subtracted before taxes. */
  preciseCouponsAmountCents: Decimal;
}

export interface AppliedFeeTax {
  tax: Tax;
  amountCents: Cents;
  preciseAmountCents: Decimal;
  /** The share of the fee that is taxed, where a tax engine said so; absent: all of it. */
  baseRate?: Decimal;
}

export interface FeeTaxes {
  appliedTaxes: AppliedFeeTax[];
  taxesAmountCents: Cents;
  taxesPreciseAmountCents: Decimal;
  /** Sum of the rates, in percent. */
  taxesRate: Decimal;
}

/** The taxed amount of a fee in cents; may have decimals. Rule: taxes.md#computation `base(f)`. */
export const taxBase = ({ amountCents, preciseCouponsAmountCents }: TaxedAmount): Decimal =>
  decimal(amountCents).minus(preciseCouponsAmountCents);

/** Exact tax at a rate in percent. */
export const taxOn = (base: Decimal, { rate }: Tax): Decimal => base.times(decimal(rate)).div(100);

/**
 * Taxes of one fee. Its tax amount is the rounded sum over the taxes, not a sum of rounded taxes.
 *
 *   33 at 20 % → 7;  10000 at 20 % + 10 % → 3000 of 2000 and 1000, rate 30
 *
 * Rule: taxes.md#computation "per fee".
 */
export function taxFee(fee: TaxedAmount, taxes: readonly Tax[]): FeeTaxes {
  const base = taxBase(fee);
  const preciseBase = fee.preciseAmountCents.minus(fee.preciseCouponsAmountCents);
  return {
    appliedTaxes: taxes.map((tax) => ({
      tax,
      amountCents: roundToCents(taxOn(base, tax)),
      preciseAmountCents: roundToDigits(taxOn(preciseBase, tax), PRECISE_AMOUNT_DIGITS),
    })),
    taxesAmountCents: roundToCents(sum(taxes.map((tax) => taxOn(base, tax)))),
    taxesPreciseAmountCents: roundToDigits(sum(taxes.map((tax) => taxOn(preciseBase, tax))), PRECISE_AMOUNT_DIGITS),
    taxesRate: sum(taxes.map((tax) => decimal(tax.rate))),
  };
}
