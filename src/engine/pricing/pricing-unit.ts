import { type Cents, roundToCents, truncateToCents } from '../money/cents.ts';
import type { Decimal } from '../money/decimal.ts';
import { PRECISE_AMOUNT_DIGITS, roundToDigits } from '../money/precision.ts';
import { toMainUnit, toSmallestUnit } from '../money/units.ts';

/** Every pricing unit has cents. */
export const PRICING_UNIT_EXPONENT = 2;

/**
 * Cents of a pricing unit in the currency; `conversionRate` is main units of the currency per pricing unit.
 *
 *   1065524 at 3.0150695 → 32126.28913918 → 3212629 cents
 *
 * Rule: pricing-units.md "fiat".
 */
export function toCurrency(
  pricingUnitCents: Cents,
  conversionRate: Decimal,
  exponent: number,
): { amountCents: Cents; preciseAmountCents: Decimal } {
  const exact = toSmallestUnit(toMainUnit(pricingUnitCents, PRICING_UNIT_EXPONENT).times(conversionRate), exponent);
  return { amountCents: roundToCents(exact), preciseAmountCents: roundToDigits(exact, PRECISE_AMOUNT_DIGITS) };
}

/** Price of a unit in the currency, from the cut cents of the pricing unit. Rule: pricing-units.md "fiat unit". */
export function unitToCurrency(
  pricingUnitCents: Cents,
  conversionRate: Decimal,
  exponent: number,
): { unitAmountCents: Cents; preciseUnitAmount: Decimal } {
  const exact = toMainUnit(pricingUnitCents, PRICING_UNIT_EXPONENT).times(conversionRate);
  return {
    unitAmountCents: truncateToCents(toSmallestUnit(exact, exponent)),
    preciseUnitAmount: roundToDigits(exact, PRECISE_AMOUNT_DIGITS),
  };
}
