import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { isUuid } from '../../../platform/ids.ts';
import { type Counted, limitOf, pageOf } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { SecurityLogsQuery } from './schema.ts';

export interface SecurityLogRow {
  id: string;
  log_type: string;
  log_event: string;
  user_email: string | null;
  resources: Record<string, unknown>;
  device_info: Record<string, unknown>;
  logged_at: Temporal.Instant;
  created_at: Temporal.Instant;
}

const columns = (db: Db) => db`id, log_type, log_event, user_email, resources, device_info, logged_at, created_at`;

/** @throws Refusal 404 security_log, of another organization or no longer shown too */
export async function getSecurityLog(
  { db, organizationId }: Scope,
  id: string,
  since: Temporal.Instant,
): Promise<SecurityLogRow> {
  const [row] = isUuid(id)
    ? await db<SecurityLogRow[]>`
        select ${columns(db)} from security_logs
        where organization_id = ${organizationId} and id = ${id} and created_at >= ${since}`
    : [];
  if (!row) throw refuse.notFound('security_log');
  return row;
}

/** A page of the lines since an instant of real time, newest first, and how many there are. */
export async function listSecurityLogs(
  scope: Scope,
  query: SecurityLogsQuery,
  since: Temporal.Instant,
): Promise<{ rows: readonly SecurityLogRow[]; total: Counted }> {
  const { db } = scope;
  const { limit, offset } = limitOf(query);
  const matching = matches(scope, query, since);
  return pageOf(query, {
    rows: () => db<SecurityLogRow[]>`
      select ${columns(db)} from security_logs where ${matching}
      order by logged_at desc, id desc
      limit ${limit} offset ${offset}`,
    count: async () =>
      (await db<{ total: number }[]>`select count(*) as total from security_logs where ${matching}`)[0]!.total,
  });
}

const matches = ({ db, organizationId }: Scope, query: SecurityLogsQuery, since: Temporal.Instant) => db`
  organization_id = ${organizationId} and created_at >= ${since}
  ${query.from_date ? db`and logged_at >= ${query.from_date}` : db``}
  ${query.to_date ? db`and logged_at < ${query.to_date}` : db``}
  ${query.user_ids ? db`and user_id = any (${query.user_ids.filter(isUuid)}::uuid[])` : db``}
  ${query.api_key_ids ? db`and api_key_id = any (${query.api_key_ids.filter(isUuid)}::uuid[])` : db``}
  ${query.log_types ? db`and log_type = any (${query.log_types})` : db``}
  ${query.log_events ? db`and log_event = any (${query.log_events})` : db``}`;
