import { Decimal } from '../money/decimal.ts';

/** Fractional digits that weighted units keep. */
const PRORATED_DIGITS = 5;
const WEIGHTED_SUM_DIGITS = 20;

/** Units weighted by days, rounded up: 2.741935… → 2.74194. Rule: money-and-days.md#numbers "prorated aggregation". */
export const ceilProrated = (units: Decimal): Decimal => units.toDecimalPlaces(PRORATED_DIGITS, Decimal.ROUND_CEIL);

/** A weighted sum, rounded up. Rule: money-and-days.md#numbers "weighted sum". */
export const ceilWeightedSum = (units: Decimal): Decimal =>
  units.toDecimalPlaces(WEIGHTED_SUM_DIGITS, Decimal.ROUND_CEIL);
