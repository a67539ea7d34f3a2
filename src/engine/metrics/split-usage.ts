import { type ChargeFilter, type FilterValues, filterChooser, type Texts } from './choose-filter.ts';
import { type GroupedBy, gatherGroups } from './group-values.ts';

/** Rows of one filter and one group, which make one usage fee. */
export interface UsageShare<Filter, Row> {
  /** Undefined is the default bucket. */
  filter: Filter | undefined;
  groupedBy: GroupedBy;
  rows: Row[];
}

export interface SplitInput<Filter, Row> {
  /** The charge's filters, in the order in which their fees appear. */
  filters: readonly Filter[];
  declaredValues: FilterValues;
  /** Group keys of a filter, or of the charge for the default bucket. */
  groupKeysOf: (filter: Filter | undefined) => readonly string[];
  rows: readonly Row[];
  textsOf: (row: Row) => Texts;
}

/**
 * Splits the usage of a charge into the shares of its fees: for each filter in the order given, then for the default
 * bucket, its groups in order. Every row falls into exactly one share; a filter without rows keeps one empty share.
 *
 * Rules: groups-and-filters.md#matching-filters, groups-and-filters.md#groups.
 */
export function splitUsage<Filter extends ChargeFilter, Row>(
  input: SplitInput<Filter, Row>,
): UsageShare<Filter, Row>[] {
  const choose = filterChooser(input.filters, input.declaredValues);
  const rowsOf = new Map<Filter | undefined, Row[]>();
  for (const filter of input.filters) rowsOf.set(filter, []);
  rowsOf.set(undefined, []);
  for (const row of input.rows) rowsOf.get(choose(input.textsOf(row)))!.push(row);

  return [...rowsOf].flatMap(([filter, rows]) =>
    gatherGroups(input.groupKeysOf(filter), rows, input.textsOf).map((group) => ({ filter, ...group })),
  );
}
