import { assert } from '../assert.ts';
import { type Decimal, decimal, max, ZERO } from '../money/decimal.ts';
import type { Usage } from './priced.ts';

/** Free units of a percentage charge; 0 = not limited in this way. */
export interface FreeUnits {
  perEvents: number;
  perTotal: Decimal;
}

/** Running totals of usage that free units depend on. */
export interface RunningTotals {
  length: number;
  /** The last one, 0 if there is none. */
  last: Decimal;
  /** The n-th one, from 1. */
  nth(n: number): Decimal;
  /** How many are strictly below. */
  below(limit: Decimal): number;
}

/** Whether every event of the usage is one unit. */
export const isCounted = ({ aggregation }: Usage): boolean =>
  aggregation === 'count_agg' || aggregation === 'unique_count_agg';

/**
 * Running totals: 1, 2, … up to the units of a count; for a sum those of the first events, or those up to the first
 * above the free total; none for others.
 *
 * Rule: charge-models.md#percentage, running total R.
 */
export function runningTotals(usage: Usage, free: FreeUnits): RunningTotals {
  if (free.perEvents === 0 && free.perTotal.isZero()) return ofList([]);
  assert(usage.aggregation, 'usage of a percentage charge says what its units are');
  if (isCounted(usage)) return ofCount(usage.units);
  return ofList(usage.aggregation === 'sum_agg' ? sumsOf(usage, free) : []);
}

function sumsOf({ values }: Usage, { perEvents, perTotal }: FreeUnits): Decimal[] {
  assert(values, 'usage of a percentage charge with free units comes with the values of its events');
  const sums: Decimal[] = [];
  let total: Decimal = ZERO;
  for (const value of values) {
    if (perEvents > 0 ? sums.length === perEvents : total.gt(perTotal)) break;
    total = total.plus(value);
    sums.push(total);
  }
  return sums;
}

const ofList = (sums: readonly Decimal[]): RunningTotals => ({
  length: sums.length,
  last: sums.at(-1) ?? ZERO,
  nth: (n) => sums[n - 1]!,
  below: (limit) => sums.filter((total) => total.lt(limit)).length,
});

const ofCount = (units: Decimal): RunningTotals => ({
  length: units.toNumber(),
  last: units,
  nth: (n) => decimal(n),
  below: (limit) => Math.min(units.toNumber(), max(limit.ceil().minus(1), ZERO).toNumber()),
});

/** Units that cost nothing. Rule: charge-models.md "free units". */
export function freeUnits(totals: RunningTotals, { perEvents, perTotal }: FreeUnits): Decimal {
  if (totals.length === 0 || totals.last.isZero()) return ZERO;
  if (perEvents > 0 && perEvents < totals.length) return totals.nth(perEvents);
  if (perTotal.isZero() || totals.last.lte(perTotal)) return max(totals.last, ZERO);
  return perTotal;
}

/** Events that pay no fixed amount. Rule: charge-models.md "free events". */
export function freeEvents(totals: RunningTotals, { perEvents, perTotal }: FreeUnits): number {
  const limits = [perEvents, totals.below(perTotal)].filter((limit) => limit > 0);
  return limits.length === 0 ? 0 : Math.min(...limits);
}
