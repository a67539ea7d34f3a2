import { type Instant, isAfter, isBefore } from '../calendar/instants.ts';

/** Stands, as the only value of a key, for every value that the metric declares. */
export const ALL_FILTER_VALUES = '__ALL_FILTER_VALUES__';

/** Values by property key: of a charge filter, those that match; of a metric, those that it declares. */
export type FilterValues = Readonly<Record<string, readonly string[]>>;

/** A charge filter; its row, with its values, fits. */
export interface ChargeFilter {
  id: string;
  created_at: Instant;
  values: FilterValues;
}

/** Property texts of an event or of a bucket; an absent key is null or missing. */
export type Texts = Readonly<Record<string, string | null | undefined>>;

/** The text under a key, null when absent. Keys come from outside, so inherited ones do not count. */
export const textUnder = (texts: Texts, key: string): string | null =>
  Object.hasOwn(texts, key) ? (texts[key] ?? null) : null;

interface Candidate<Filter> {
  filter: Filter;
  values: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * Makes the function that puts texts into exactly one bucket: the filter that receives them, or undefined for the
 * default bucket.
 *
 * A filter matches when every key's text is among its values. Of the matching ones the most keys win; on equal keys a
 * filter whose values are a subset of another's on every key beats it; what is then still tied goes to the oldest.
 *
 * filters         the charge's, in any order
 * declaredValues  the metric's, which a wildcard stands for
 *
 * Rule: usage-and-charges C.5.
 */
export function filterChooser<Filter extends ChargeFilter>(
  filters: readonly Filter[],
  declaredValues: FilterValues,
): (texts: Texts) => Filter | undefined {
  const candidates = filters
    .map((filter) => ({ filter, values: expand(filter.values, declaredValues) }))
    .sort(byPrecedence);
  return (texts) => narrowest(candidates.filter((candidate) => matches(candidate, texts)))?.filter;
}

/** The matching candidates all come most keys first, oldest first. */
function narrowest<Filter>(matching: readonly Candidate<Filter>[]): Candidate<Filter> | undefined {
  const best = matching.filter((candidate) => candidate.values.size === matching[0]!.values.size);
  return best.find((candidate) => !best.some((other) => isNarrower(other, candidate)));
}

const matches = ({ values }: Candidate<unknown>, texts: Texts): boolean =>
  [...values].every(([key, allowed]) => {
    const text = textUnder(texts, key);
    return text !== null && allowed.has(text);
  });

const isNarrower = (a: Candidate<unknown>, b: Candidate<unknown>): boolean => isWithin(a, b) && !isWithin(b, a);

/** Whether both have the same keys and every value of `a` is one of `b`. */
const isWithin = (a: Candidate<unknown>, b: Candidate<unknown>): boolean =>
  a.values.size === b.values.size &&
  [...a.values].every(([key, values]) => {
    const wider = b.values.get(key);
    return wider !== undefined && [...values].every((value) => wider.has(value));
  });

function expand(values: FilterValues, declaredValues: FilterValues): Map<string, Set<string>> {
  const declared = (key: string) => (Object.hasOwn(declaredValues, key) ? declaredValues[key]! : []);
  const expanded = Object.entries(values).map(([key, listed]): [string, Set<string>] => {
    const isWildcard = listed.length === 1 && listed[0] === ALL_FILTER_VALUES;
    return [key, new Set(isWildcard ? declared(key) : listed)];
  });
  return new Map(expanded);
}

function byPrecedence<Filter extends ChargeFilter>(a: Candidate<Filter>, b: Candidate<Filter>): number {
  if (a.values.size !== b.values.size) return b.values.size - a.values.size;
  if (isBefore(a.filter.created_at, b.filter.created_at)) return -1;
  if (isAfter(a.filter.created_at, b.filter.created_at)) return 1;
  return a.filter.id < b.filter.id ? -1 : 1;
}
