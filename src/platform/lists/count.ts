import type { Db, Fragment } from '../db/connect.ts';

/** Rows of a list that are counted one by one: some 20 ms. Of more it says about how many there are. */
const MOST_COUNTED = 10_000;

/** How many rows a list has. */
export interface Total {
  count: number;
  /** By what Postgres knows of the tables: at least as many as were counted. */
  isEstimated: boolean;
}

/** Number of rows of a list; `source` is what stands after `from`. One statement, two of long lists. */
export async function countMatching(db: Db, source: Fragment): Promise<Total> {
  const [row] = await db<{ count: number }[]>`
    select count(*) as count from (select from ${source} limit ${MOST_COUNTED + 1}) as counted`;
  if (row!.count <= MOST_COUNTED) return { count: row!.count, isEstimated: false };
  const [plan] = await db<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }[]>`
    explain (format json) select from ${source}`;
  return { count: Math.max(row!.count, plan!['QUERY PLAN'][0].Plan['Plan Rows']), isEstimated: true };
}
