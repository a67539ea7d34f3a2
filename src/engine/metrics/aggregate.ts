import { assert } from '../assert.ts';
import type { AggregationType } from './aggregation-types.ts';
import { combineCounts } from './count.ts';
import { combineSums } from './sum.ts';
import type { Aggregate, Combine, UsageBucket } from './usage-bucket.ts';

/** The aggregations that can be computed, each a file of its own. */
const COMBINES: Partial<Record<AggregationType, Combine>> = {
  count_agg: combineCounts,
  sum_agg: combineSums,
};

/** Whether usage of an aggregation can be computed. */
export const isAggregated = (type: AggregationType): boolean => COMBINES[type] !== undefined;

/** Units and number of events of one filter and group, from its buckets. Rule: usage-and-charges C.2. */
export function aggregate(type: AggregationType, buckets: readonly UsageBucket[]): Aggregate {
  const combine = COMBINES[type];
  assert(combine, `usage of ${type} is aggregated`);
  return combine(buckets);
}
