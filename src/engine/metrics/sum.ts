import { decimal, sum } from '../money/decimal.ts';
import type { Combine } from './usage-bucket.ts';

/** Sum of the numeric values, counting only their events; may be negative. Rule: usage-and-charges C.2 "sum". */
export const combineSums: Combine = (buckets) => ({
  units: sum(buckets.map((bucket) => decimal(bucket.sum))),
  eventsCount: buckets.reduce((total, bucket) => total + bucket.valid_count, 0),
});
