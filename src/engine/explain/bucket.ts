import { ALL_FILTER_VALUES, type FilterValues } from '../metrics/choose-filter.ts';
import type { StoredFeeInputs, StoredMetric, StoredPrice } from './inputs.ts';

type Filter = NonNullable<StoredPrice['sibling_filters']>[number];

/** Rule of usage-and-charges C.5 that decided about a bucket; 0: nothing else could match. */
export type BucketRule = 0 | 1 | 2 | 3 | 4;

/** The bucket of a fee, and the filters that may take the same events. */
export interface Bucket {
  own: Filter | undefined;
  /** Filters that may match an event of the bucket; of the default bucket all. */
  rivals: readonly Filter[];
  /** Rivals that win over the own filter: what they match is theirs. */
  stronger: readonly Filter[];
  rule: BucketRule;
}

/** Which events belong to a fee, by its stored inputs. Rule: usage-and-charges C.5. */
export function bucketOf({ price, metric }: StoredFeeInputs): Bucket {
  const filters = (price.sibling_filters ?? []).map((filter) => expanded(filter, metric));
  const own = filters.find(({ id }) => id === price.charge_filter_id);
  if (own === undefined) return { own, rivals: filters, stronger: filters, rule: filters.length === 0 ? 0 : 1 };
  const rivals = filters.filter((other) => other !== own && overlap(own.values, other.values));
  const stronger = rivals.filter((other) => ruleBetween(other, own) !== undefined);
  const beaten = rivals.flatMap((other) => ruleBetween(own, other) ?? []);
  return { own, rivals, stronger, rule: beaten.length === 0 ? 0 : (Math.max(...beaten) as BucketRule) };
}

/** The rule by which a filter beats another one; undefined when it does not. */
function ruleBetween(winner: Filter, other: Filter): 2 | 3 | 4 | undefined {
  const [keys, otherKeys] = [Object.keys(winner.values), Object.keys(other.values)];
  if (keys.length !== otherKeys.length) return keys.length > otherKeys.length ? 2 : undefined;
  const isNarrower = isWithin(winner.values, other.values);
  const isWider = isWithin(other.values, winner.values);
  if (isNarrower !== isWider) return isNarrower ? 3 : undefined;
  const [age, otherAge] = [winner, other].map(({ created_at, id }) => `${created_at} ${id}`);
  return age! < otherAge! ? 4 : undefined;
}

/** A wildcard as the values that its metric declared. */
function expanded(filter: Filter, metric: StoredMetric | null): Filter {
  const declared = (key: string) => metric?.filters.find((each) => each.key === key)?.values ?? [];
  const values = Object.entries(filter.values).map(([key, listed]) => [
    key,
    listed.length === 1 && listed[0] === ALL_FILTER_VALUES ? declared(key) : listed,
  ]);
  return { ...filter, values: Object.fromEntries(values) as FilterValues };
}

const overlap = (a: FilterValues, b: FilterValues): boolean =>
  Object.keys(a)
    .filter((key) => Object.hasOwn(b, key))
    .every((key) => a[key]!.some((value) => b[key]!.includes(value)));

const isWithin = (a: FilterValues, b: FilterValues): boolean =>
  Object.keys(a).every((key) => Object.hasOwn(b, key) && a[key]!.every((value) => b[key]!.includes(value)));
