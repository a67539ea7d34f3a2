import { type Decimal, ZERO } from '../money/decimal.ts';
import { roundToDigits } from '../money/precision.ts';

/** Fractional digits of units whose difference is booked in part: more than most usage has. */
export const PARTIAL_UNITS_DIGITS = 12;

/**
 * Units of the booked part of a difference whose rest was netted, credited or left.
 *
 *   13 units less, −650, of which −300 come off what waits → −6
 *
 * Rule: event-corrections.md#difference "difference of units".
 */
export function partOfUnits(units: Decimal, partCents: number, deltaCents: number): Decimal {
  if (partCents === deltaCents) return units;
  return partCents === 0 ? ZERO : roundToDigits(units.times(partCents).div(deltaCents), PARTIAL_UNITS_DIGITS);
}
