import type { Kind } from '../kinds.ts';
import { type Layer, type PriceRow, type UnitPrice, unitPrice } from './price-row.ts';

/** Rows of one threshold by layer, the one to use first: the newest, of equals the one written last. */
type Threshold = { min: number } & Record<Layer, UnitPrice[]>;

/** Prices of one model, ready to be looked up: tiers, in them kinds, in them thresholds from the greatest. */
export type PriceTable = ReadonlyMap<string, ReadonlyMap<Kind, readonly Threshold[]>>;

/** The table of the rows of one model, which is built once and asked for every call. */
export function priceTable(rows: readonly PriceRow[]): PriceTable {
  const table = new Map<string, Map<Kind, Threshold[]>>();
  for (const row of rows) {
    const kinds = table.get(row.tier) ?? new Map<Kind, Threshold[]>();
    table.set(row.tier, kinds);
    const thresholds = kinds.get(row.kind) ?? [];
    kinds.set(row.kind, thresholds);
    let threshold = thresholds.find(({ min }) => min === row.min_input_tokens);
    if (!threshold) {
      threshold = { min: row.min_input_tokens, organization: [], deployment: [] };
      thresholds.push(threshold);
    }
    threshold[row.layer].push(unitPrice(row));
  }
  for (const kinds of table.values())
    for (const thresholds of kinds.values()) {
      thresholds.sort((a, b) => b.min - a.min);
      for (const { organization, deployment } of thresholds) {
        organization.sort(newestFirst);
        deployment.sort(newestFirst);
      }
    }
  return table;
}

const newestFirst = ({ row: a }: UnitPrice, { row: b }: UnitPrice): number =>
  a.valid_from === b.valid_from ? b.book_version - a.book_version : a.valid_from < b.valid_from ? 1 : -1;

/** The price in force at an instant, of rows sorted with the newest first. */
export function priceAt(rows: readonly UnitPrice[], at: string): UnitPrice | undefined {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle]!.row.valid_from <= at) high = middle;
    else low = middle + 1;
  }
  return rows[low];
}
