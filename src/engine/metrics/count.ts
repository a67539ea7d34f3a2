import { decimal } from '../money/decimal.ts';
import type { Combine } from './usage-bucket.ts';

/** Number of events. Rule: aggregation.md#metered "count". */
export const combineCounts: Combine = (buckets) => {
  const eventsCount = buckets.reduce((total, bucket) => total + bucket.events_count, 0);
  return { units: decimal(eventsCount), eventsCount };
};
