import type { Db, Fragment } from '../db/connect.ts';

/** How many rows of a long list are counted exactly, in some 20 ms; longer ones are estimated. */
const MOST_COUNTED = 10_000;
/** The same of lists of business records, such as customers and invoices, which few organizations have so many of. */
const MOST_RECORDS_COUNTED = 100_000;
/** How many rows are looked for to know whether a list has more. */
export const MOST_LOOKED_AT = MOST_COUNTED + 1;

/** How many rows a list has. */
export interface Total {
  count: number;
  /** Estimated from Postgres' statistics: at least as many as were counted. */
  isEstimated: boolean;
}

/**
 * Number of rows of a list. One statement, two of long lists.
 *
 * source  what stands after `from`
 * first   the same of its first MOST_LOOKED_AT rows, where an index has them in an order: without one Postgres reads
 *         the table from its beginning when many rows match, and those that match may all lie at its end
 */
export const countMatching = (db: Db, source: Fragment, first: Fragment = source): Promise<Total> =>
  countUpTo(MOST_COUNTED, db, source, first);

/** Number of records of a business list: exact up to a hundred thousand. One statement, two of longer lists. */
export const countRecords = (db: Db, source: Fragment): Promise<Total> =>
  countUpTo(MOST_RECORDS_COUNTED, db, source, source);

async function countUpTo(most: number, db: Db, source: Fragment, first: Fragment): Promise<Total> {
  const [row] = await db<{ count: number }[]>`
    select count(*) as count from (select from ${first} limit ${most + 1}) as counted`;
  if (row!.count <= most) return { count: row!.count, isEstimated: false };
  const [plan] = await db<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }[]>`
    explain (format json) select from ${source}`;
  return { count: Math.max(row!.count, plan!['QUERY PLAN'][0].Plan['Plan Rows']), isEstimated: true };
}
