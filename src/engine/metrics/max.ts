import { decimal, max, ZERO } from '../money/decimal.ts';
import { type Combine, type MaxBucket, validCount } from './usage-bucket.ts';

/** The greatest value, which may be negative; 0 without events. Rule: aggregation.md#metered "max". */
export const combineMaxima: Combine<MaxBucket> = (buckets) => {
  const maxima = buckets.flatMap((bucket) => (bucket.max === null ? [] : [decimal(bucket.max)]));
  return { units: maxima.length === 0 ? ZERO : maxima.reduce(max), eventsCount: validCount(buckets) };
};
