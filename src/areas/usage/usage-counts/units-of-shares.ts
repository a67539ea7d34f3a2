import { Temporal } from 'temporal-polyfill';
import { assert } from '../../../engine/assert.ts';
import { aggregate, type SummedBucket } from '../../../engine/metrics/aggregate.ts';
import type { AggregationType } from '../../../engine/metrics/aggregation-types.ts';
import { combineProratedSums, proratedSum } from '../../../engine/metrics/prorated-sum.ts';
import { proratedUniqueCount } from '../../../engine/metrics/prorated-unique-count.ts';
import type { Proration } from '../../../engine/metrics/proration.ts';
import { combineSums } from '../../../engine/metrics/sum.ts';
import { uniqueCount } from '../../../engine/metrics/unique-count.ts';
import { type MemberEvent, operationOf, type ValueEvent } from '../../../engine/metrics/usage-event.ts';
import { combineWeightedSums } from '../../../engine/metrics/weighted-sum.ts';
import { type Decimal, decimal, max, sum, ZERO } from '../../../engine/money/decimal.ts';
import type { EventRow } from './queries.ts';
import type { ChargeToCount, CountedShare } from './request.ts';

/** Aggregates of events with the same property texts over a stretch of time. */
export interface Portion extends SummedBucket {
  /** Sum of value × seconds since 1970. */
  moment: Decimal;
  preciseTotalAmountCents: Decimal;
  /** First hour of the local day, where days are kept apart. */
  hour: Temporal.Instant | null;
}

/** The rows of one filter and group. */
export interface ShareRead {
  portions: readonly Portion[];
  /** What was counted before the period. */
  before: readonly Portion[];
  /** In processing order. */
  events: readonly ReadEvent[];
  /** For unique counts: values in use that no event of the window shows. */
  settled?: number;
  /** Running total of the last fee. */
  billedTotal: Decimal | undefined;
}

/** An event, or the aggregate of the events of a value and hour. */
export type ReadEvent = Pick<EventRow, 'text' | 'operation' | 'timestamp' | 'key'>;

export type Figures = Omit<CountedShare, 'filterId' | 'groupedBy'>;

/** The columns of the latest value, of buckets that do not hold it. */
export const NO_LATEST = { last_ts: null, last_created_at: null, last_id: null, last_value: null };

const EPOCH = Temporal.Instant.fromEpochMilliseconds(0);

/**
 * Units, number of events and figures for pricing, for one filter and group. Rules: aggregation.md#metered,
 * aggregation.md#recurring, aggregation.md#unique-count, groups-and-filters.md#matching-filters,
 * groups-and-filters.md#groups, aggregation.md#weighted-sum, aggregation.md#prorated-sum,
 * aggregation.md#prorated-unique-count.
 */
export function figuresOf(charge: ChargeToCount, read: ShareRead): Figures {
  const type = charge.metric.aggregation_type;
  if (type === 'weighted_sum_agg') return weightedFigures(charge, read);
  if (type === 'unique_count_agg') {
    const events = read.events.map(memberEvent);
    return charge.isProrated ? proratedUniqueCount(events, prorationOf(charge)) : uniqueCount(events, read.settled);
  }
  const values = read.events.map(valueEvent);
  if (charge.isProrated) return proratedFigures(charge, read, values);
  if (charge.needs === 'values') return figuresOfValues(type, values);
  const figures = aggregate(type, read.portions);
  if (charge.firstValues !== undefined) return { ...figures, values: values.map(({ value }) => value) };
  if (charge.needs !== 'amounts') return figures;
  return { ...figures, preciseTotalAmountCents: sum(read.portions.map((portion) => portion.preciseTotalAmountCents)) };
}

function proratedFigures(
  charge: ChargeToCount,
  { before, portions }: ShareRead,
  values: readonly ValueEvent[],
): Figures {
  const carried = combineSums(before);
  if (charge.needs === 'moves') return proratedSum(carried, values, prorationOf(charge));
  const days = portions.map((portion) => {
    assert(portion.hour, 'prorated sums are kept apart by days');
    return { hour: portion.hour, sum: portion.sum, valid_count: portion.valid_count };
  });
  const single = values.map(({ timestamp, value }) => ({ hour: timestamp, sum: value, valid_count: 1 }));
  return combineProratedSums(carried, [...days, ...single], prorationOf(charge));
}

function weightedFigures(charge: ChargeToCount, { portions, before, billedTotal }: ShareRead): Figures {
  const { period, periodDays } = prorationOf(charge);
  const initial = charge.carriedOver === undefined ? ZERO : (billedTotal ?? combineSums(before).units);
  const buckets = portions.map(({ moment, sum: total, valid_count }) => ({
    moment,
    sum: total,
    valid_count,
    hour: EPOCH,
  }));
  return combineWeightedSums(buckets, { period, periodDays, initial });
}

/** The figures of events whose values are priced one by one. */
function figuresOfValues(type: AggregationType, events: readonly ValueEvent[]): Figures {
  const values = events.map(({ value }) => value);
  const bucket: SummedBucket = {
    ...NO_LATEST,
    events_count: values.length,
    valid_count: values.length,
    sum: sum(values),
    max: values.length === 0 ? null : values.reduce(max),
  };
  return { ...aggregate(type, [bucket]), values };
}

function prorationOf({ proration }: ChargeToCount): Proration {
  assert(proration, 'units that depend on time come with their period');
  return proration;
}

const valueEvent = ({ text, timestamp }: ShareRead['events'][number]): ValueEvent => ({
  timestamp,
  value: decimal(text),
});

const memberEvent = ({ text, operation, timestamp }: ShareRead['events'][number]): MemberEvent => ({
  timestamp,
  value: text,
  operation: operationOf(operation),
});
