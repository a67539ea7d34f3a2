import { type Decimal, ZERO } from '../money/decimal.ts';
import { roundToDigits } from '../money/precision.ts';

/** Digits after the point of units whose difference is booked in part: more than most usage is counted with. */
export const PARTIAL_UNITS_DIGITS = 12;

/**
 * Units of the part of a difference that is booked in one place, where the rest was netted, credited or left.
 *
 *   13 units less, −650, of which −300 come off what waits → −6
 *
 * Rule: event-corrections.md#difference "difference of units".
 */
export function partOfUnits(units: Decimal, partCents: number, deltaCents: number): Decimal {
  if (partCents === deltaCents) return units;
  return partCents === 0 ? ZERO : roundToDigits(units.times(partCents).div(deltaCents), PARTIAL_UNITS_DIGITS);
}
