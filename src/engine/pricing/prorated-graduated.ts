import type { Move, Moves } from '../metrics/proration.ts';
import { type Decimal, max, min, sum, ZERO } from '../money/decimal.ts';
import { amountOf } from './amount-text.ts';
import type { Priced, Usage } from './priced.ts';
import type { Range } from './ranges.ts';

/**
 * Price of units weighed by days in ranges. The full units of each event move a running total through the ranges; every
 * piece of the move costs its range's price, weighed as the event is, and is given back when the move leads down. Added
 * are the flat amounts up to the range of the highest total.
 *
 *   0–5 at 10 + 100, 6–15 at 5 + 50, 30 days; +2 on the 10th, +5 on the 16th
 *   → 2 × 21 ÷ 30 × 10 + 3 × 15 ÷ 30 × 10 + 2 × 15 ÷ 30 × 5 + 150 = 184
 *
 * Rule: usage-and-charges D.5 "graduated, prorated".
 */
export function proratedGraduatedPrice({ units }: Usage, moves: Moves, ranges: readonly Range[]): Priced {
  if (units.isZero()) return priced(flatAmounts(ranges, ZERO), ZERO);

  let total: Decimal = ZERO;
  let highest: Decimal = ZERO;
  const costs: Decimal[] = [];
  for (const move of moves.list) {
    costs.push(costOf(move, total, ranges));
    total = total.plus(move.full);
    highest = max(highest, total);
  }
  if (total.isNegative() && !total.isZero()) return priced(ZERO, ZERO);

  const usagePart = max(sum(costs).div(moves.divisor), ZERO);
  return priced(usagePart.plus(flatAmounts(ranges, highest)), total);
}

const priced = (amount: Decimal, fullUnits: Decimal): Priced => ({
  amount,
  unitAmount: fullUnits.isZero() ? ZERO : amount.div(fullUnits),
  details: {},
});

/** Cost of one move from a running total on, not yet divided. Weighed units without full ones cost the first price. */
function costOf({ full, weighed }: Move, total: Decimal, ranges: readonly Range[]): Decimal {
  if (full.isZero()) return weighed.times(pricePerUnit(ranges[0]!));
  const [low, high] = full.isNegative() ? [total.plus(full), total] : [total, total.plus(full)];
  const pieces = ranges.map((range, index) => lengthInside(low, high, ranges[index - 1]?.to ?? null, range.to));
  const cost = sum(ranges.map((range, index) => pieces[index]!.times(pricePerUnit(range))));
  // The weight of one unit: the event's weighed by its full units, both of the same sign.
  return cost
    .times(weighed)
    .div(full)
    .times(full.isNegative() ? -1 : 1);
}

/** Length of [low, high] between two bounds; the first range reaches down without end, the last one up. */
function lengthInside(low: Decimal, high: Decimal, from: Decimal | null, to: Decimal | null): Decimal {
  const start = from === null ? low : max(low, from);
  const end = to === null ? high : min(high, to);
  return max(end.minus(start), ZERO);
}

const pricePerUnit = (range: Range): Decimal => amountOf(range.properties.per_unit_amount);

/** Flat amounts of the ranges up to the one that holds `units`. */
function flatAmounts(ranges: readonly Range[], units: Decimal): Decimal {
  const last = ranges.findIndex(({ to }) => to === null || to.gte(units));
  return sum(ranges.slice(0, last + 1).map(({ properties }) => amountOf(properties.flat_amount)));
}
