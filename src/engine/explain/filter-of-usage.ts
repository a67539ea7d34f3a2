import type { Instant } from '../calendar/instants.ts';
import { type FilterValues, isNarrower, overlaps, type RankedFilter, rankFilters } from '../metrics/choose-filter.ts';
import { instantOf } from './read-stored-inputs.ts';
import type { StoredFeeInputs } from './stored-inputs.ts';

/** Rule of groups-and-filters.md#matching-filters that decided the bucket; 0 if nothing else could match. */
export type BucketRule = 0 | 1 | 2 | 3 | 4;

/** The bucket of a fee, and the filters that may match the same events. */
export interface Bucket {
  /** Undefined is the default bucket. */
  own: RankedFilter<StoredFilter> | undefined;
  /** All filters of the charge. */
  ranked: readonly RankedFilter<StoredFilter>[];
  /** Other filters that may match an event of the bucket; for the default bucket all. */
  rivals: readonly RankedFilter<StoredFilter>[];
  rule: BucketRule;
}

export interface StoredFilter {
  id: string;
  values: FilterValues;
  created_at: Instant;
}

/** Which events belong to a fee, by its stored inputs. Rule: groups-and-filters.md#matching-filters. */
export function bucketOf({ price, metric }: StoredFeeInputs): Bucket {
  const filters = (price.sibling_filters ?? []).map((each) => ({ ...each, created_at: instantOf(each.created_at) }));
  const declared = Object.fromEntries((metric?.filters ?? []).map(({ key, values }) => [key, values]));
  const ranked = rankFilters(filters, declared);
  const own = ranked.find(({ filter }) => filter.id === price.charge_filter_id);
  if (own === undefined) return { own, ranked, rivals: ranked, rule: ranked.length === 0 ? 0 : 1 };
  const rivals = ranked.filter((other) => other !== own && overlaps(own, other));
  const beaten = rivals.map((other) => ruleBetween(own, other, ranked)).filter((rule) => rule !== 0);
  return { own, ranked, rivals, rule: beaten.length === 0 ? 0 : (Math.max(...beaten) as BucketRule) };
}

/** The rule by which a filter beats another one; 0 when it does not. */
function ruleBetween(
  winner: RankedFilter<StoredFilter>,
  other: RankedFilter<StoredFilter>,
  ranked: readonly RankedFilter<StoredFilter>[],
): BucketRule {
  if (winner.values.size !== other.values.size) return winner.values.size > other.values.size ? 2 : 0;
  if (isNarrower(winner, other)) return 3;
  return !isNarrower(other, winner) && ranked.indexOf(winner) < ranked.indexOf(other) ? 4 : 0;
}
