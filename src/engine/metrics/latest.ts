import { isAfter, isBefore } from '../calendar/instants.ts';
import { decimal, max, ZERO } from '../money/decimal.ts';
import { type Combine, type LatestBucket, validCount } from './usage-bucket.ts';

/**
 * Value of the last event by timestamp, then `created_at`, then id; 0 if negative or absent. All numeric events are
 * counted, not only the last.
 *
 * Rule: aggregation.md#metered "latest".
 */
export const combineLatest: Combine<LatestBucket> = (buckets) => {
  const last = newestOf(buckets);
  return { units: last ? max(decimal(last.last_value!), ZERO) : ZERO, eventsCount: validCount(buckets) };
};

/** The bucket with the last numeric event; undefined without one. */
export const newestOf = <Bucket extends LatestBucket>(buckets: readonly Bucket[]): Bucket | undefined =>
  buckets
    .filter((bucket) => bucket.last_ts !== null)
    .reduce<Bucket | undefined>((newest, bucket) => (newest && !isNewer(bucket, newest) ? newest : bucket), undefined);

function isNewer(a: LatestBucket, b: LatestBucket): boolean {
  if (!a.last_ts!.equals(b.last_ts!)) return isAfter(a.last_ts!, b.last_ts!);
  if (!a.last_created_at!.equals(b.last_created_at!)) return !isBefore(a.last_created_at!, b.last_created_at!);
  return a.last_id! > b.last_id!;
}
