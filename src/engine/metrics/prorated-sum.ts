import { type Decimal, decimal, sum } from '../money/decimal.ts';
import { ceilProrated } from './ceil-units.ts';
import { dayNumbers } from './day-numbers.ts';
import { billedDays, type Move, type Moves, type ProratedUnits, type Proration } from './proration.ts';
import type { Aggregate, HourBucket } from './usage-bucket.ts';
import type { ValueEvent } from './usage-event.ts';

/**
 * Sum of a recurring metric weighted by days: carried units count from the first day of the period and an event from
 * its own day, both to the last day.
 *
 *   5 carried over; +12 and +12 on the 26th of May → 5 + 24 × 6 ÷ 31 = 9.64517, full 29
 *
 * carried  sum, and number, of the events strictly before the period
 * events   of the period
 *
 * Rule: aggregation.md#prorated-sum.
 */
export function proratedSum(
  carried: Aggregate,
  events: readonly ValueEvent[],
  proration: Proration,
): ProratedUnits & { moves: Moves } {
  const daysFrom = billedDays(proration);
  const weigh = (value: Decimal, at: ValueEvent['timestamp']): Move => ({
    full: value,
    weighed: value.times(daysFrom(at)),
  });
  const list = [
    ...(carried.units.isZero() ? [] : [weigh(carried.units, proration.period.from)]),
    ...events.map(({ value, timestamp }) => weigh(value, timestamp)),
  ];
  const moves = { list, divisor: proration.periodDays };
  return { ...totalOf(moves), eventsCount: carried.eventsCount + events.length, moves };
}

/**
 * The same from hours in any order, without the single moves. An hour with a local midnight belongs to two days, so its
 * events come in a bucket for each day.
 *
 * Rule: rollups.md#buckets "prorated sum".
 */
export function combineProratedSums(
  carried: Aggregate,
  buckets: readonly HourBucket[],
  proration: Proration,
): ProratedUnits {
  const events = buckets.map((bucket) => ({ timestamp: bucket.hour, value: decimal(bucket.sum) }));
  const { units, fullUnits } = proratedSum(carried, events, proration);
  const eventsCount = buckets.reduce((total, bucket) => total + bucket.valid_count, carried.eventsCount);
  return { units, fullUnits, eventsCount };
}

/** Whether an hour, given by its start, lies on two local days, as in zones with offsets of half hours. */
export function holdsMidnight(hour: ValueEvent['timestamp'], zone: string): boolean {
  const dayOf = dayNumbers(zone);
  return dayOf(hour) !== dayOf(hour.add({ minutes: 60 }).subtract({ nanoseconds: 1 }));
}

const totalOf = ({ list, divisor }: Moves): Pick<ProratedUnits, 'units' | 'fullUnits'> => ({
  units: ceilProrated(sum(list.map(({ weighed }) => weighed)).div(divisor)),
  fullUnits: sum(list.map(({ full }) => full)),
});
