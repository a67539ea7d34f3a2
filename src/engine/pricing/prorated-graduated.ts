import type { Move, Moves } from '../metrics/proration.ts';
import { type Decimal, max, min, sum, ZERO } from '../money/decimal.ts';
import { amountOf } from './amount-text.ts';
import type { Priced, Usage } from './priced.ts';
import type { Range } from './ranges.ts';

/**
 * Price of units weighted by days in ranges. The full units of each event move a running total through the ranges;
 * every piece of a move costs its range's price, weighted like the event, and is subtracted if the move leads down. The
 * flat amounts up to the range of the highest total are added.
 *
 *   0–5 at 10 + 100, 6–15 at 5 + 50, 30 days; +2 on the 10th, +5 on the 16th
 *   → 2 × 21 ÷ 30 × 10 + 3 × 15 ÷ 30 × 10 + 2 × 15 ÷ 30 × 5 + 150 = 184
 *
 * Rule: charge-models.md#graduated-prorated.
 */
export function proratedGraduatedPrice(usage: Usage, moves: Moves, ranges: readonly Range[]): Priced {
  const { pieces, flat, fullUnits } = proratedPieces(usage, moves, ranges);
  if (fullUnits.isNegative() && !fullUnits.isZero()) return priced(ZERO, ZERO);
  const usagePart = sum(pieces.map(({ weighed, perUnit }) => weighed.times(perUnit))).div(moves.divisor);
  return priced(max(usagePart, ZERO).plus(flat), fullUnits);
}

const priced = (amount: Decimal, fullUnits: Decimal): Priced => ({
  amount,
  unitAmount: fullUnits.isZero() ? ZERO : amount.div(fullUnits),
  details: {},
});

/** A part of one event's move that lies in one range. */
export interface Piece {
  /** Units of the part, negative when they are subtracted; 0 if only weighted units are priced. */
  full: Decimal;
  /** Weighted, not yet divided. */
  weighed: Decimal;
  /** Number of the range, from 1. */
  tier: number;
  perUnit: Decimal;
}

/**
 * The price in its pieces.
 *
 * flat       flat amounts up to the range of the highest total
 * fullUnits units at the end; if negative the price is zero
 */
export function proratedPieces(
  { units }: Usage,
  moves: Moves,
  ranges: readonly Range[],
): { pieces: Piece[]; flat: Decimal; fullUnits: Decimal } {
  if (units.isZero()) return { pieces: [], flat: flatAmounts(ranges, ZERO), fullUnits: ZERO };
  let total: Decimal = ZERO;
  let highest: Decimal = ZERO;
  const pieces: Piece[] = [];
  for (const move of moves.list) {
    pieces.push(...piecesOf(move, total, ranges));
    total = total.plus(move.full);
    highest = max(highest, total);
  }
  return { pieces, flat: flatAmounts(ranges, highest), fullUnits: total };
}

/** Pieces of one move from a running total on. Weighted units without full ones cost the first price. */
function piecesOf({ full, weighed }: Move, total: Decimal, ranges: readonly Range[]): Piece[] {
  if (full.isZero()) return [{ full, weighed, tier: 1, perUnit: pricePerUnit(ranges[0]!) }];
  const [low, high] = full.isNegative() ? [total.plus(full), total] : [total, total.plus(full)];
  return ranges.flatMap((range, index) => {
    const length = lengthInside(low, high, ranges[index - 1]?.to ?? null, range.to);
    if (length.isZero()) return [];
    const own = full.isNegative() ? length.negated() : length;
    return [{ full: own, weighed: own.times(weighed).div(full), tier: index + 1, perUnit: pricePerUnit(range) }];
  });
}

/** Length of [low, high] between two bounds; the first range is open downwards, the last one upwards. */
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
