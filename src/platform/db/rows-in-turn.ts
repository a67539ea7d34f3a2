import type { Temporal } from 'temporal-polyfill';
import type { OrganizationId } from '../ids.ts';
import type { Fragment, Sql } from './connect.ts';

/** How many rows one run of a sweep takes, and how many of them of one organization. */
const MOST = 2000;
const MOST_OF_ORGANIZATION = 500;

interface Selection {
  table: string;
  /** Column of the record's id. */
  id?: string;
  /** Column that says when a row was last taken. */
  stamp?: 'looked_at' | 'updated_at';
  /** Which rows are due, each under the name `record`. */
  due: Fragment;
  /** Other columns that change with the stamp, after a comma. */
  also?: Fragment;
  mostOfOrganization?: number;
  most?: number;
}

/**
 * Rows of all organizations that a sweep has to look at, and stamps them: those first that were looked at longest ago,
 * and of no organization more than its share. So rows that make no progress, however many one organization has of them,
 * keep no others from their turn. Rule: everywhere.md#bounded-cost.
 */
export async function takeInTurn<Id extends string>(
  sql: Sql,
  at: Temporal.Instant,
  {
    table,
    id = 'id',
    stamp = 'looked_at',
    due,
    also = sql``,
    mostOfOrganization = MOST_OF_ORGANIZATION,
    most = MOST,
  }: Selection,
): Promise<{ organization_id: OrganizationId; id: Id }[]> {
  return await sql<{ organization_id: OrganizationId; id: Id }[]>`
    with taken as (
      select record.organization_id, record.id, record.stamp
      from organizations organization
      cross join lateral (
        select record.organization_id, record.${sql(id)} as id, record.${sql(stamp)} as stamp
        from ${sql(table)} record
        where record.organization_id = organization.id and ${due}
        order by record.${sql(stamp)} nulls first limit ${mostOfOrganization}) record
      order by record.stamp nulls first, record.id limit ${most})
    update ${sql(table)} record set ${sql(stamp)} = ${at} ${also}
    from taken where record.organization_id = taken.organization_id and record.${sql(id)} = taken.id
    returning record.organization_id, record.${sql(id)} as id`;
}
