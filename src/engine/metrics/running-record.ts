import { type Decimal, max, ONE, ZERO } from '../money/decimal.ts';
import { ceilProrated } from './ceil-units.ts';
import { billedDays, type Proration } from './proration.ts';
import type { Operation, ValueEvent } from './usage-event.ts';

/**
 * The running record of units billed in advance in a period, for each charge, filter and group. Without a former record
 * of the period everything is 0.
 */
export interface RunningRecord {
  /** Net units. */
  current: Decimal;
  /** Highest net units reached. */
  max: Decimal;
  /** Sum of the units billed, weighted by days. */
  maxProrated: Decimal;
}

/** Units of one event. */
export interface EventUnits {
  /** Priced: the increase above the highest net units so far; weighted by days for a prorated charge. */
  billed: Decimal;
  /** Shown on the fee. */
  units: Decimal;
  /** The running record for the next event of the period. */
  record: RunningRecord;
}

/** Nothing billed yet. */
export const NO_RECORD: RunningRecord = { current: ZERO, max: ZERO, maxProrated: ZERO };

/** Change of the units in use by one event of a unique count: −1, 0 or 1. Rule: in-advance.md#units-of-one-event. */
export function uniqueChange(operation: Operation, isActive: boolean): Decimal {
  if (operation === 'add') return isActive ? ZERO : ONE;
  return isActive ? ONE.negated() : ZERO;
}

/**
 * Units of one event billed in advance: only what rises above the highest net units of the period, so that units given
 * back and used again are not billed twice. Shown are the event's own units while it stays below that height.
 *
 *   +10, −4, +8 → billed 10, 0, 4; shown 10, 0, 4
 *   +10, −4, +2 → billed 10, 0, 0; shown 10, 0, 2
 *
 * change    of the units in use: 1 for a count, the value for a sum, `uniqueChange` for a unique count
 * former    newest record of the period
 * weighing  of a prorated charge: the event's time, and the period that it weighs from that day to its end
 *
 * Rule: in-advance.md#units-of-one-event.
 */
export function eventUnits(
  change: Decimal,
  former: RunningRecord = NO_RECORD,
  weighing?: { at: ValueEvent['timestamp']; proration: Proration },
): EventUnits {
  const current = former.current.plus(change);
  const rise = max(current.minus(former.max), ZERO);
  const billed = weighing === undefined ? rise : weighedRise(rise, weighing);
  return {
    billed,
    units: rise.isZero() ? max(change, ZERO) : rise,
    record: {
      current,
      max: former.max.plus(rise),
      maxProrated: weighing === undefined ? former.maxProrated : former.maxProrated.plus(billed),
    },
  };
}

const weighedRise = (
  rise: Decimal,
  { at, proration }: { at: ValueEvent['timestamp']; proration: Proration },
): Decimal => ceilProrated(rise.times(billedDays(proration)(at)).div(proration.periodDays));

/**
 * Units of current usage of a charge billed in advance. It shows the net units, not below 0, and prices the billed
 * units: the net units with the highest of the period in place of the present ones.
 *
 *   +10, −5 of a metered sum → shown 5, priced 10
 *
 * net     the ordinary aggregation: of the period, or of all time for a recurring metric
 * former  newest record of the period
 *
 * Rule: in-advance.md#units-of-one-event "current usage".
 */
export const usageInAdvance = (net: Decimal, former: RunningRecord = NO_RECORD) => ({
  units: net.minus(former.current).plus(former.max),
  fullUnits: max(net, ZERO),
});

/**
 * The same for a prorated charge: the weighted carried units and the units billed in the period. Without a record it is
 * the prorated aggregation when the subscription covers less than the full period, else the full units.
 *
 *   carried 5, then +1 on the 12th of July → 5 × 31 ÷ 31 + 20 ÷ 31
 */
export function proratedUsageInAdvance(
  net: { units: Decimal; fullUnits: Decimal },
  former: RunningRecord | undefined,
  proration: Proration,
) {
  const fullUnits = max(net.fullUnits, ZERO);
  const days = billedDays(proration)(proration.period.from);
  if (former === undefined) return { units: days < proration.periodDays ? net.units : net.fullUnits, fullUnits };

  const carried = net.fullUnits.minus(max(former.current, ZERO));
  return { units: ceilProrated(carried.times(days).div(proration.periodDays)).plus(former.maxProrated), fullUnits };
}
