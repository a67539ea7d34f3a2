import type { Temporal } from 'temporal-polyfill';
import type { Sql } from '../platform/db/connect.ts';
import type { OrganizationId } from '../platform/ids.ts';

export interface PostgresHealth {
  version: string;
  size_bytes: number;
  connections: number;
  oldest_transaction_seconds: number | null;
}

export async function readPostgres(sql: Sql): Promise<PostgresHealth> {
  const [row] = await sql<PostgresHealth[]>`
    select current_setting('server_version') as version, pg_database_size(current_database()) as size_bytes,
      count(*) as connections,
      extract(epoch from clock_timestamp() - min(xact_start))::bigint as oldest_transaction_seconds
    from pg_stat_activity where datname = current_database()`;
  return row!;
}

export const WATCHED_A_PAGE = 50;
/** Findings of an organization that are counted. */
const MOST_FINDINGS = 100;

export interface WatchedOrganization {
  svc_id: OrganizationId;
  name: string;
  sandbox: boolean;
  events_last_hour: number;
  open_findings: number;
}

/** Organizations by name, one more than a page shows: their events of the last hour by the volume, their findings. */
export const listWatched = (sql: Sql, page: number, now: Temporal.Instant) => sql<WatchedOrganization[]>`
  select shown.id as svc_id, shown.name, shown.sandbox, (
      select coalesce(sum(stored), 0)::bigint from event_volumes
      where organization_id = shown.id and minute >= ${now.subtract({ hours: 1 })}) as events_last_hour, (
      select count(*) from (
        select from audit_findings
        where organization_id = shown.id and status = 'open' and status <> 'resolved'
        limit ${MOST_FINDINGS}) finding) as open_findings
  from (
    select id, name, sandbox from organizations
    order by name, id
    limit ${WATCHED_A_PAGE + 1} offset ${(page - 1) * WATCHED_A_PAGE}
  ) shown
  order by shown.name, shown.id`;
