import { type Cents, roundToCents, truncateToCents } from '../money/cents.ts';
import { type Decimal, ZERO } from '../money/decimal.ts';
import { PRECISE_AMOUNT_DIGITS, roundToDigits } from '../money/precision.ts';
import { toSmallestUnit } from '../money/units.ts';
import type { Priced } from './priced.ts';
import { PRICING_UNIT_EXPONENT, toCurrency, unitToCurrency } from './pricing-unit.ts';

/** The units of a charge's prices and of its fees. */
export interface Denomination {
  /** Decimals of the currency. */
  exponent: number;
  /** Conversion rate of the charge's pricing unit; absent or null if its prices are in the currency. */
  conversionRate?: Decimal | null;
}

/** Amounts as a fee stores them. */
export interface Amounts {
  amountCents: Cents;
  /** Unrounded, with the 15 decimals that are stored. */
  preciseAmountCents: Decimal;
  /** Truncated to whole cents, not rounded. */
  unitAmountCents: Cents;
  /** In the main unit, with 15 decimals. */
  preciseUnitAmount: Decimal;
}

export interface FeeAmounts extends Amounts {
  /** The same in the charge's pricing unit, for `pricing_unit_details`. */
  pricingUnit: Amounts | null;
}

/**
 * The amounts of a fee from its price, which is rounded here and nowhere else. Rules: money-and-days.md#numbers,
 * pricing-units.md.
 */
export function feeAmounts(price: Pick<Priced, 'amount' | 'unitAmount'>, denomination: Denomination): FeeAmounts {
  const { exponent, conversionRate } = denomination;
  if (!conversionRate) return { ...amountsOf(price, exponent), pricingUnit: null };

  const pricingUnit = amountsOf(price, PRICING_UNIT_EXPONENT);
  return {
    ...toCurrency(pricingUnit.amountCents, conversionRate, exponent),
    ...unitToCurrency(pricingUnit.unitAmountCents, conversionRate, exponent),
    pricingUnit,
  };
}

function amountsOf({ amount, unitAmount }: Pick<Priced, 'amount' | 'unitAmount'>, exponent: number): Amounts {
  const exact = toSmallestUnit(amount, exponent);
  return {
    amountCents: roundToCents(exact),
    preciseAmountCents: roundToDigits(exact, PRECISE_AMOUNT_DIGITS),
    unitAmountCents: truncateToCents(toSmallestUnit(unitAmount, exponent)),
    preciseUnitAmount: roundToDigits(unitAmount, PRECISE_AMOUNT_DIGITS),
  };
}

/** Decimals of the unit in which the prices of a charge are. */
export const priceExponent = ({ exponent, conversionRate }: Denomination): number =>
  conversionRate ? PRICING_UNIT_EXPONENT : exponent;

/** The amounts of a free fee. */
export const noAmounts = (denomination: Denomination): FeeAmounts =>
  feeAmounts({ amount: ZERO, unitAmount: ZERO }, denomination);
