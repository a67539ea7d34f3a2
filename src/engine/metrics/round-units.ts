import { Decimal, type Rounding } from '../money/decimal.ts';

export const ROUNDING_FUNCTIONS = ['round', 'ceil', 'floor'] as const;
export type RoundingFunction = (typeof ROUNDING_FUNCTIONS)[number];

const MODES: Record<RoundingFunction, Rounding> = {
  round: Decimal.ROUND_HALF_UP,
  ceil: Decimal.ROUND_CEIL,
  floor: Decimal.ROUND_FLOOR,
};

/** How a metric rounds its units; structural: a metric's row can be passed. */
export interface UnitRounding {
  rounding_function: RoundingFunction | null;
  rounding_precision: number | null;
}

/**
 * Rounds aggregated units by the setting of their metric, once for each group or filter, before pricing.
 *
 * rounding_precision  fractional digits; negative rounds to tens, hundreds, …; null is 0
 *
 *   1234, round, −2 → 1200;  −2.5, round, 0 → −3
 *
 * Rule: billable-metrics.md#rounding.
 */
export function roundUnits(units: Decimal, { rounding_function, rounding_precision }: UnitRounding): Decimal {
  if (rounding_function === null) return units;

  const precision = rounding_precision ?? 0;
  const mode = MODES[rounding_function];
  if (precision >= 0) return units.toDecimalPlaces(precision, mode);

  const step = new Decimal(10).pow(-precision);
  return units.div(step).toDecimalPlaces(0, mode).times(step);
}
