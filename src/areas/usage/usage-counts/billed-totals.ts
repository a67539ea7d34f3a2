import { compareGroups, type GroupedBy } from '../../../engine/metrics/group-values.ts';
import type { UsageShare } from '../../../engine/metrics/split-usage.ts';
import { type Decimal, ZERO } from '../../../engine/money/decimal.ts';
import type { ChargeFilterId } from '../../../platform/ids.ts';
import type { TotalRow } from './queries.ts';
import type { ChargeToCount, FilterToCount, WantedTexts } from './request.ts';

/** The running totals that the fees of earlier periods ended with, by filter and group. */
export type BilledTotals = ReadonlyMap<string, TotalRow>;

/** For usage restricted to some groups: the sum of their totals, without the restricting keys. */
export function billedTotals(rows: readonly TotalRow[], only: WantedTexts = {}): BilledTotals {
  const totals = new Map<string, TotalRow>();
  for (const row of rows) {
    if (!Object.entries(only).every(([key, any]) => any.some((text) => row.grouped_by[key] === text))) continue;
    const grouped_by = Object.fromEntries(Object.entries(row.grouped_by).filter(([key]) => !Object.hasOwn(only, key)));
    const name = nameOf(row.charge_filter_id, grouped_by);
    totals.set(name, { ...row, grouped_by, total: row.total.plus(totals.get(name)?.total ?? ZERO) });
  }
  return totals;
}

/**
 * Adds to the shares of a charge their billed totals, and shares of the groups that have such a total but no event. A
 * group is identified by today's group keys; without any total the shares stay unchanged.
 *
 * Rule: aggregation.md#weighted-sum "groups".
 */
export function addBilledGroups<Row>(
  { filters, groupKeys }: Pick<ChargeToCount, 'filters' | 'groupKeys'>,
  shares: readonly UsageShare<FilterToCount, Row>[],
  totals: BilledTotals,
): (UsageShare<FilterToCount, Row> & { billedTotal: Decimal | undefined })[] {
  if (totals.size === 0) return shares.map((share) => ({ ...share, billedTotal: undefined }));

  return [...filters, undefined].flatMap((filter) => {
    const keys = filter?.groupKeys ?? groupKeys;
    const totalOf = (groupedBy: GroupedBy) => totals.get(nameOf(filter?.id ?? null, groupedBy))?.total;
    const own = shares.filter((share) => share.filter?.id === filter?.id);
    const known = new Set(own.map(({ groupedBy }) => nameOf(null, groupedBy)));
    const carried = [...totals.values()]
      .filter((row) => row.charge_filter_id === (filter?.id ?? null) && isGroupOf(row.grouped_by, keys))
      .filter((row) => !known.has(nameOf(null, row.grouped_by)) && !row.total.isZero())
      .map((row) => ({ filter, groupedBy: row.grouped_by, rows: [] }));
    const used = own.filter(({ groupedBy, rows }) => rows.length > 0 || totalOf(groupedBy) !== undefined);
    return [...(carried.length === 0 ? own : used), ...carried]
      .sort((a, b) => compareGroups(keys, a.groupedBy, b.groupedBy))
      .map((share) => ({ ...share, billedTotal: totalOf(share.groupedBy) ?? ZERO }));
  });
}

const isGroupOf = (groupedBy: GroupedBy, keys: readonly string[]): boolean =>
  Object.keys(groupedBy).length === keys.length && keys.every((key) => Object.hasOwn(groupedBy, key));

const nameOf = (filterId: ChargeFilterId | null, groupedBy: GroupedBy): string =>
  JSON.stringify([filterId, Object.entries(groupedBy).sort(([a], [b]) => (a < b ? -1 : 1))]);
