import { type Instant, isBefore, later } from '../calendar/instants.ts';
import { holds } from '../calendar/period.ts';
import { Decimal, max, sum, ZERO } from '../money/decimal.ts';
import { billedDays, type Proration } from './proration.ts';

/** Units of a fixed charge from an instant on; structural: its row can be passed. */
export interface UnitRecord {
  units: Decimal;
  timestamp: Instant;
}

export interface FixedUnits {
  /** Priced: weighted by days for a prorated fixed charge. */
  units: Decimal;
  /** In force at the end; what is shown. */
  fullUnits: Decimal;
}

const SLICE_DIGITS = 6;

/**
 * Units of a fixed charge in a period: those of the record created last; for a prorated one the sum over its records of
 * `days in force ÷ days × units`, each rounded at 6 digits. A scheduled change that a later change with an earlier date
 * replaced does not count.
 *
 *   10 days: 20 before, 10 from the next period on, then 100 from the last day on → 20 × 9 ÷ 10 + 100 × 1 ÷ 10 = 28
 *
 * records  of the fixed charge or its parent for the subscription, in the order of their creation
 *
 * Rule: fixed-charges.md#aggregation.
 */
export function fixedUnits(
  records: readonly UnitRecord[],
  period: Omit<Proration, 'isUpgraded'>,
  { prorated }: { prorated: boolean },
): FixedUnits {
  const relevant = recordsOf(records, period.period);
  const fullUnits = relevant.at(-1)?.units ?? ZERO;
  return { units: prorated ? max(weighedUnits(relevant, period), ZERO) : fullUnits, fullUnits };
}

/** Records of the period, with the one before it that was created last. */
function recordsOf(records: readonly UnitRecord[], period: Proration['period']): UnitRecord[] {
  const carried = records.findLast(({ timestamp }) => isBefore(timestamp, period.from));
  return records.filter((record) => record === carried || holds(period, record.timestamp));
}

function weighedUnits(records: readonly UnitRecord[], period: Omit<Proration, 'isUpgraded'>): Decimal {
  const days = billedDays({ ...period, isUpgraded: false });
  const inForce = records.filter(
    ({ timestamp }, index) => !records.slice(index + 1).some((other) => isBefore(other.timestamp, timestamp)),
  );
  // Days in force are those from the record's day on, less those from the next record's day on.
  const daysFrom = (record: UnitRecord | undefined) =>
    record === undefined ? 0 : days(later(record.timestamp, period.period.from));
  return sum(
    inForce.map((record, index) =>
      record.units
        .times(daysFrom(record) - daysFrom(inForce[index + 1]))
        .div(period.periodDays)
        .toDecimalPlaces(SLICE_DIGITS, Decimal.ROUND_HALF_UP),
    ),
  );
}
