import { type Texts, textUnder } from './choose-filter.ts';

/** One combination of the values of the pricing group keys; null is "absent or empty". */
export type GroupedBy = Record<string, string | null>;

/** Group key that a charge with `accepts_target_wallet` adds. */
export const TARGET_WALLET_KEY = 'target_wallet_code';

/** Keys that usage is grouped by, of a charge or of a filter's properties. Rule: groups-and-filters.md#groups. */
export function groupKeys(
  properties: { pricing_group_keys?: readonly string[] | null; grouped_by?: readonly string[] | null },
  { acceptsTargetWallet }: { acceptsTargetWallet: boolean },
): string[] {
  const keys = properties.pricing_group_keys ?? properties.grouped_by ?? [];
  return [...new Set(acceptsTargetWallet ? [...keys, TARGET_WALLET_KEY] : keys)];
}

/** The group of an event or bucket. Empty text and an absent property are the same. */
export const groupOf = (keys: readonly string[], texts: Texts): GroupedBy =>
  Object.fromEntries(keys.map((key) => [key, textUnder(texts, key) || null]));

/**
 * Gathers rows by group in ascending order of their values, null last. Without rows there is one group with all values
 * null. Rule: groups-and-filters.md#groups.
 */
export function gatherGroups<Row>(
  keys: readonly string[],
  rows: readonly Row[],
  textsOf: (row: Row) => Texts,
): { groupedBy: GroupedBy; rows: Row[] }[] {
  const groups = new Map<string, { groupedBy: GroupedBy; rows: Row[] }>();
  for (const row of rows) {
    const groupedBy = groupOf(keys, textsOf(row));
    const name = JSON.stringify(keys.map((key) => groupedBy[key]));
    const group = groups.get(name);
    if (group === undefined) groups.set(name, { groupedBy, rows: [row] });
    else group.rows.push(row);
  }
  if (groups.size === 0) return [{ groupedBy: groupOf(keys, {}), rows: [] }];
  return [...groups.values()].sort((a, b) => compareGroups(keys, a.groupedBy, b.groupedBy));
}

/** Order of two groups: by the first key whose values differ. */
export function compareGroups(keys: readonly string[], a: GroupedBy, b: GroupedBy): number {
  for (const key of keys) {
    const [left, right] = [a[key] ?? null, b[key] ?? null];
    if (left === right) continue;
    if (left === null) return 1;
    if (right === null) return -1;
    return left < right ? -1 : 1;
  }
  return 0;
}
