import type { Sql } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { count, lockSums, takeBack, takeMarks } from './marked-sources.ts';

/** How many marks one transaction takes. */
const MARKS_AT_ONCE = 500;

/**
 * Counts the marked sources of an organization until none is left: the former entries of each source are subtracted and
 * its current ones added, in one transaction with its marks. So a sum is right however often and in whatever order a
 * source is marked. While another process counts for the organization, this one does nothing.
 */
export async function rollUpAnalytics(scope: Scope<Sql>): Promise<void> {
  while ((await rollUpSome(scope)) === MARKS_AT_ONCE);
}

/** @returns how many marks were worked off */
const rollUpSome = ({ db: sql, organizationId }: Scope<Sql>): Promise<number> =>
  sql.begin(async (tx): Promise<number> => {
    if (!(await lockSums({ db: tx, organizationId }))) return 0;
    const sources = await takeMarks({ db: tx, organizationId }, MARKS_AT_ONCE);
    if (sources.length === 0) return 0;
    await takeBack({ db: tx, organizationId }, sources);
    await count({ db: tx, organizationId }, sources);
    return sources.reduce((total, { marks }) => total + marks, 0);
  });
