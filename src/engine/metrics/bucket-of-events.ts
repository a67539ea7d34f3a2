import type { Instant } from '../calendar/instants.ts';
import { type Decimal, max, sum } from '../money/decimal.ts';
import { secondsBetween } from './seconds.ts';
import type { LatestBucket, MaxBucket, MomentBucket, UsageBucket } from './usage-bucket.ts';

/** An event as storage has it. */
export interface StoredValue {
  id: string;
  created_at: Instant;
  timestamp: Instant;
  /** Undefined if the property is absent or not a plain number. */
  value: Decimal | undefined;
}

/**
 * The bucket of some events, with the columns of every aggregation. With it an aggregation over events is the one over
 * buckets, however the events are divided into buckets.
 *
 * events  in processing order
 * hour the start from which the moment's seconds count
 *
 * Rule: rollups.md#buckets.
 */
export function bucketOfEvents(
  events: readonly StoredValue[],
  hour: Instant,
): UsageBucket & MaxBucket & LatestBucket & MomentBucket {
  const valid = events.flatMap((event) => (event.value === undefined ? [] : [{ ...event, value: event.value }]));
  const last = valid.at(-1);
  return {
    hour,
    events_count: events.length,
    valid_count: valid.length,
    sum: sum(valid.map(({ value }) => value)),
    moment: sum(valid.map(({ value, timestamp }) => value.times(secondsBetween(hour, timestamp)))),
    max: valid.length === 0 ? null : valid.map(({ value }) => value).reduce(max),
    last_ts: last?.timestamp ?? null,
    last_created_at: last?.created_at ?? null,
    last_id: last?.id ?? null,
    last_value: last?.value ?? null,
  };
}
