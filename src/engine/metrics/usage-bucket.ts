import type { Instant } from '../calendar/instants.ts';
import type { Decimal } from '../money/decimal.ts';
import { AGGREGATION_TRAITS, type AggregationType } from './aggregation-types.ts';

/** Aggregates of the events of one hour, or of any other set of events. Every aggregation reads its own columns. */
export interface UsageBucket {
  /** All events. */
  events_count: number;
  /** Events whose property is a plain number. */
  valid_count: number;
  /** Sum over these. */
  sum: Decimal | string;
}

/** The columns from which the greatest value is combined. */
export interface MaxBucket extends Pick<UsageBucket, 'valid_count'> {
  /** Null without a valid event. */
  max: Decimal | string | null;
}

/** The columns that the latest value is combined from; null without a valid event. */
export interface LatestBucket extends Pick<UsageBucket, 'valid_count'> {
  last_ts: Instant | null;
  last_created_at: Instant | null;
  last_id: string | null;
  last_value: Decimal | string | null;
}

/** The columns that sums over time are combined from. */
export interface HourBucket extends Pick<UsageBucket, 'valid_count' | 'sum'> {
  /** Start of the hour, or any other instant from which the moment counts. */
  hour: Instant;
}

export interface MomentBucket extends HourBucket {
  /** Sum of value × seconds since `hour`. */
  moment: Decimal | string;
}

/** Units before rounding, and the number of events behind them. */
export interface Aggregate {
  units: Decimal;
  eventsCount: number;
}

/** Turns the buckets of one filter and group into units; buckets may come in any order. */
export type Combine<Bucket = UsageBucket> = (buckets: readonly Bucket[]) => Aggregate;

/**
 * Whether a bucket holds an event that an aggregation counts. Other events are ignored: they open no group, make no fee
 * and are not counted.
 *
 * Rule: aggregation.md#selecting-events (3).
 */
export const holdsTaken = (
  type: AggregationType,
  { events_count, valid_count }: Pick<UsageBucket, 'events_count' | 'valid_count'>,
): boolean => (AGGREGATION_TRAITS[type].needsNumber ? valid_count : events_count) > 0;

/** Number of valid events of some buckets. */
export const validCount = (buckets: readonly Pick<UsageBucket, 'valid_count'>[]): number =>
  buckets.reduce((total, bucket) => total + bucket.valid_count, 0);
