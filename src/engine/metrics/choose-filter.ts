import { type Instant, isAfter, isBefore } from '../calendar/instants.ts';
import { own } from '../own.ts';

/** The only value of a key, which stands for every value that the metric declares. */
export const ALL_FILTER_VALUES = '__ALL_FILTER_VALUES__';

/** Values by property key: matching values of a charge filter, or declared values of a metric. */
export type FilterValues = Readonly<Record<string, readonly string[]>>;

/** A charge filter; any object with these fields fits, so that its row with its values can be passed. */
export interface ChargeFilter {
  id: string;
  created_at: Instant;
  values: FilterValues;
}

/** Property texts of an event or of a bucket; an absent key is null or missing. */
export type Texts = Readonly<Record<string, string | null | undefined>>;

/** The text of a key, null if it is absent. Keys come from outside, so inherited properties do not count. */
export const textUnder = (texts: Texts, key: string): string | null => own(texts, key) ?? null;

/** A filter at its place in the order of matching. */
export interface RankedFilter<Filter> {
  filter: Filter;
  /** Texts that match, by key; for a wildcard those that the metric declares. */
  values: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * The filters of a charge in the order of matching: most keys first, then the oldest. An event goes to the first filter
 * that matches it, unless one of its `narrowerThan` matches too; without a match it goes to the default bucket.
 *
 * This is the only definition of matching: `filterChooser` applies it to texts, and
 * `src/areas/usage/usage-counts/events-of-filter.ts` expresses it in SQL for raw events.
 *
 * filters         the charge's, in any order
 * declaredValues  the metric's, which a wildcard stands for
 *
 * Rule: groups-and-filters.md#matching-filters.
 */
export const rankFilters = <Filter extends ChargeFilter>(
  filters: readonly Filter[],
  declaredValues: FilterValues,
): RankedFilter<Filter>[] =>
  filters.map((filter) => ({ filter, values: expand(filter.values, declaredValues) })).sort(byRank);

/** Filters with the same keys and a part of the values of another filter, which take events from it. */
export const narrowerThan = <Filter>(
  ranked: readonly RankedFilter<Filter>[],
  wider: RankedFilter<Filter>,
): RankedFilter<Filter>[] => ranked.filter((other) => isNarrower(other, wider));

/**
 * Makes the function that puts texts into exactly one bucket: the filter that receives them, or undefined for the
 * default bucket.
 *
 * A filter matches when every key's text is among its values. Of the matching ones the most keys win; with equal keys a
 * filter whose values are a subset of another's on every key wins; a remaining tie goes to the oldest.
 *
 * filters         the charge's, in any order
 * declaredValues  the metric's, which a wildcard stands for
 *
 * Rule: groups-and-filters.md#matching-filters.
 */
export function filterChooser<Filter extends ChargeFilter>(
  filters: readonly Filter[],
  declaredValues: FilterValues,
): (texts: Texts) => Filter | undefined {
  const ranked = rankFilters(filters, declaredValues);
  const choose = (texts: Texts) => {
    const matching = ranked.filter((each) => matches(each, texts));
    return matching.find((each) => narrowerThan(matching, each).length === 0)?.filter;
  };
  // Thousands of rows share a few combinations of the filtered texts, so 500 filters are matched once for each.
  const named = new Map<string, Set<string>>();
  for (const [key, texts] of ranked.flatMap(({ values }) => [...values])) {
    const known = named.get(key) ?? new Set();
    for (const text of texts) known.add(text);
    named.set(key, known);
  }
  const keys = [...named];
  const chosen = new Map<string, Filter | undefined>();
  return (texts) => {
    const relevant = keys.map(([key, known]) => {
      const text = textUnder(texts, key);
      return text !== null && known.has(text) ? text : null;
    });
    const name = JSON.stringify(relevant);
    if (!chosen.has(name)) chosen.set(name, choose(texts));
    return chosen.get(name);
  };
}

const matches = ({ values }: RankedFilter<unknown>, texts: Texts): boolean =>
  [...values].every(([key, allowed]) => {
    const text = textUnder(texts, key);
    return text !== null && allowed.has(text);
  });

/** Whether some texts match both filters. */
export const overlaps = (a: RankedFilter<unknown>, b: RankedFilter<unknown>): boolean =>
  [...a.values].every(([key, values]) => {
    const others = b.values.get(key);
    return others === undefined || [...values].some((value) => others.has(value));
  });

/** Whether a filter has the keys of another one, and on every key a part of its values, but not all of them. */
export const isNarrower = (a: RankedFilter<unknown>, b: RankedFilter<unknown>): boolean =>
  isWithin(a, b) && !isWithin(b, a);

/** Whether both have the same keys and every value of `a` is one of `b`. */
const isWithin = (a: RankedFilter<unknown>, b: RankedFilter<unknown>): boolean =>
  a.values.size === b.values.size &&
  [...a.values].every(([key, values]) => {
    const wider = b.values.get(key);
    return wider !== undefined && [...values].every((value) => wider.has(value));
  });

function expand(values: FilterValues, declaredValues: FilterValues): Map<string, Set<string>> {
  const declared = (key: string) => own(declaredValues, key) ?? [];
  const expanded = Object.entries(values).map(([key, listed]): [string, Set<string>] => {
    const isWildcard = listed.length === 1 && listed[0] === ALL_FILTER_VALUES;
    return [key, new Set(isWildcard ? declared(key) : listed)];
  });
  return new Map(expanded);
}

function byRank<Filter extends ChargeFilter>(a: RankedFilter<Filter>, b: RankedFilter<Filter>): number {
  if (a.values.size !== b.values.size) return b.values.size - a.values.size;
  if (isBefore(a.filter.created_at, b.filter.created_at)) return -1;
  if (isAfter(a.filter.created_at, b.filter.created_at)) return 1;
  return a.filter.id < b.filter.id ? -1 : 1;
}
