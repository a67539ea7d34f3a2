import { assert } from '../assert.ts';
import type { AggregationType } from './aggregation-types.ts';
import { combineCounts } from './count.ts';
import { combineLatest } from './latest.ts';
import { combineMaxima } from './max.ts';
import { combineSums } from './sum.ts';
import type { Aggregate, Combine, LatestBucket, MaxBucket, UsageBucket } from './usage-bucket.ts';

/** The columns of all aggregations that need neither single events nor a period. */
export type SummedBucket = UsageBucket & MaxBucket & LatestBucket;

/** The aggregations that are combined from buckets alone, each a file of its own. */
const COMBINES: Partial<Record<AggregationType, Combine<SummedBucket>>> = {
  count_agg: combineCounts,
  sum_agg: combineSums,
  max_agg: combineMaxima,
  latest_agg: combineLatest,
};

/** Whether usage of an aggregation can be computed. */
export const isAggregated = (type: AggregationType): boolean => type !== 'custom_agg';

/** Units and number of events of one filter and group, from its buckets. Rule: aggregation.md#metered. */
export function aggregate(type: AggregationType, buckets: readonly SummedBucket[]): Aggregate {
  const combine = COMBINES[type];
  assert(combine, `usage of ${type} is combined from buckets`);
  return combine(buckets);
}
