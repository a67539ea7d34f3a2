import { decimal, sum } from '../money/decimal.ts';
import { type Combine, type UsageBucket, validCount } from './usage-bucket.ts';

/**
 * Sum of the numeric values, counting only their events; may be negative. Recurring: the same over all events up to the
 * window's end. Rules: aggregation.md#metered "sum", aggregation.md#recurring.
 */
export const combineSums: Combine<Pick<UsageBucket, 'sum' | 'valid_count'>> = (buckets) => ({
  units: sum(buckets.map((bucket) => decimal(bucket.sum))),
  eventsCount: validCount(buckets),
});
