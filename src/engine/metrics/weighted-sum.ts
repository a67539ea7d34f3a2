import type { Instant } from '../calendar/instants.ts';
import { lastInstant, type Period } from '../calendar/period.ts';
import { type Decimal, decimal, sum } from '../money/decimal.ts';
import { ceilWeightedSum } from './ceil-units.ts';
import { secondsBetween } from './seconds.ts';
import { type Aggregate, type MomentBucket, validCount } from './usage-bucket.ts';
import type { ValueEvent } from './usage-event.ts';

export interface WeightedSumTerms {
  /** The charges period. */
  period: Period;
  /** Days of the full period. */
  periodDays: number;
  /**
   * Running total at the start: 0 for a metered metric; for a recurring one the total saved with the former billed
   * period, else, for a subscription that replaces another one, the sum of the values before the period's first second
   * − 1 s.
   */
  initial: Decimal;
}

export interface WeightedSum extends Aggregate {
  /**
   * The running total at the end: `total_aggregated_units`, and of a recurring metric what the next period starts from.
   */
  totalUnits: Decimal;
}

const SECONDS_OF_DAY = 86_400;

/**
 * Running total of the values, weighted by the seconds for which it lasted, divided by the seconds of the full period;
 * rounded up at 20 digits. Days have 86 400 seconds whatever the clocks do.
 *
 *   +2500 at the start of the last 27 of 31 days → 2500 × 27 ÷ 31 = 2177.41935…, total 2500
 *
 * Rule: aggregation.md#weighted-sum.
 */
export function weightedSum(events: readonly ValueEvent[], terms: WeightedSumTerms): WeightedSum {
  const span = spanOf(terms.period);
  const slices: Decimal[] = [];
  let total = terms.initial;
  let since = span.start;
  for (const { timestamp, value } of events) {
    slices.push(total.times(secondsBetween(since, timestamp)));
    total = total.plus(value);
    since = timestamp;
  }
  slices.push(total.times(secondsBetween(since, span.end)));
  return { units: perPeriod(sum(slices), terms), totalUnits: total, eventsCount: events.length };
}

/**
 * The same from buckets in any order: a bucket's sum counts from its start to the end of the period, less its moment.
 * Rule: rollups.md#buckets "weighted_sum".
 */
export function combineWeightedSums(buckets: readonly MomentBucket[], terms: WeightedSumTerms): WeightedSum {
  const { start, end } = spanOf(terms.period);
  const parts = buckets.map((bucket) =>
    decimal(bucket.sum).times(secondsBetween(bucket.hour, end)).minus(decimal(bucket.moment)),
  );
  const unitSeconds = sum(parts).plus(terms.initial.times(secondsBetween(start, end)));
  return {
    units: perPeriod(unitSeconds, terms),
    totalUnits: terms.initial.plus(sum(buckets.map((bucket) => decimal(bucket.sum)))),
    eventsCount: validCount(buckets),
  };
}

const perPeriod = (unitSeconds: Decimal, { periodDays }: WeightedSumTerms): Decimal =>
  ceilWeightedSum(unitSeconds.div(periodDays * SECONDS_OF_DAY));

/** From the millisecond in which the period starts to the whole second at or after its last instant. */
function spanOf(period: Period): { start: Instant; end: Instant } {
  return {
    start: period.from.round({ smallestUnit: 'millisecond', roundingMode: 'floor' }),
    end: lastInstant(period).round({ smallestUnit: 'second', roundingMode: 'ceil' }),
  };
}
