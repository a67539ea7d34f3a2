import type { Db, Fragment, Sql } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { entriesOf, nilUuid, REPORTS, type Report } from '../analytics/entries.ts';

// Namespace of the advisory locks of organizations' sums; docs/architecture.md lists all of them.
const SUMS_SEED = 5310;

export interface Source {
  source_type: 'invoice' | 'fee' | 'daily_usage' | 'wallet_transaction';
  source_id: string;
}

/** Takes the lock of the organization's counting until the transaction ends; does not wait. */
export async function lockSums({ db, organizationId }: Scope): Promise<boolean> {
  const [row] = await db<{ is_free: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended(${organizationId}, ${SUMS_SEED})) as is_free`;
  return row!.is_free;
}

/** Takes the oldest marks of an organization. Their changes are committed: a statement after this one sees them. */
export const takeMarks = ({ db, organizationId }: Scope, limit: number) => db<(Source & { marks: number })[]>`
  with taken as (
    delete from analytics_marks
    where organization_id = ${organizationId} and position in (
      select position from analytics_marks where organization_id = ${organizationId} order by position limit ${limit})
    returning source_type, source_id)
  select source_type, source_id, count(*) as marks from taken group by 1, 2`;

/** Subtracts the former entries of the sources. */
export const takeBack = ({ db, organizationId }: Scope, sources: readonly Source[]) => db`
  with gone as (
    delete from analytics_entries
    where organization_id = ${organizationId} and source_id = any (${sources.map(({ source_id }) => source_id)})
    returning report, day, billing_entity_id, customer_id, subscription_id, currency, key, code, amount, units
  ), less as (${summed(db, db`gone`)})
  update analytics_totals total
  set amount = total.amount - less.amount, units = total.units - less.units,
    entries_count = total.entries_count - less.entries_count
  from less
  where total.organization_id = ${organizationId} and total.report = less.report
    and total.customer_id = less.customer_id
    and total.day = less.day and total.subscription_id = less.subscription_id
    and total.billing_entity_id = less.billing_entity_id and total.currency = less.currency and total.key = less.key
    and total.code = less.code`;

/** Adds the current entries of the sources. */
export const count = (scope: Scope, sources: readonly Source[]) => scope.db`
  with source as materialized (
    select * from unnest(${sources.map(({ source_type }) => source_type)}::text[],
      ${sources.map(({ source_id }) => source_id)}::uuid[]) as source (source_type, source_id)
  ), fresh as (
    insert into analytics_entries (organization_id, source_id, report, day, billing_entity_id, customer_id,
      subscription_id,
      currency, key, code, amount, units)
    select ${scope.organizationId}::uuid, entry.* from (${allEntries(scope)}) entry
    returning report, day, billing_entity_id, customer_id, subscription_id, currency, key, code, amount, units
  ), stored as (
    insert into analytics_totals (organization_id, report, customer_id, day, subscription_id, billing_entity_id,
      currency, key, code, amount, units, entries_count)
    select ${scope.organizationId}::uuid, more.* from (${summed(scope.db, scope.db`fresh`)}) more
    on conflict (organization_id, report, customer_id, day, subscription_id, billing_entity_id, currency, key, code)
    do update set amount = analytics_totals.amount + excluded.amount, units = analytics_totals.units + excluded.units,
      entries_count = analytics_totals.entries_count + excluded.entries_count
    returning true
  )
  select count(*) from stored`;

/** Organizations with marked sources. */
export const listMarkedOrganizations = (sql: Sql, limit: number) => sql<{ organization_id: OrganizationId }[]>`
  with recursive marked as (
    (select organization_id from analytics_marks order by organization_id limit 1)
    union all
    select (select mark.organization_id from analytics_marks mark
      where mark.organization_id > marked.organization_id order by mark.organization_id limit 1)
    from marked where marked.organization_id is not null)
  select organization_id from marked where organization_id is not null limit ${limit}`;

const allEntries = (scope: Scope): Fragment =>
  REPORTS.map((report) => entriesOf(scope, report)).reduce((all, each) => scope.db`${all} union all ${each}`);

/** Reports that can be filtered by customer. */
const BY_CUSTOMER: readonly Report[] = ['gross_revenue', 'mrr', 'revenue_streams', 'usage', 'prepaid_credits'];

/** Entries summed for the totals they belong to: the whole organization's, and in some reports a subscription's. */
const summed = (db: Db, entries: Fragment): Fragment => db`
  select entry.report, grain.customer_id, entry.day, grain.subscription_id, entry.billing_entity_id, entry.currency,
    entry.key, entry.code, sum(entry.amount) as amount, sum(entry.units) as units, count(*) as entries_count
  from ${entries} entry
  cross join lateral (
    select ${nilUuid(db)} as customer_id, ${nilUuid(db)} as subscription_id
    union all
    select entry.customer_id, entry.subscription_id where entry.report = any (${BY_CUSTOMER})
  ) grain
  group by 1, 2, 3, 4, 5, 6, 7, 8`;
