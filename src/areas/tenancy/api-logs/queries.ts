import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import { isUuid } from '../../../platform/ids.ts';
import { boundedPage } from '../../../platform/lists/bounded-page.ts';
import { countMatching } from '../../../platform/lists/count.ts';
import { type Counted, limitOf } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import { type HTTP_METHODS, pathPatterns } from './filters.ts';
import type { ApiLogsQuery } from './schema.ts';

export interface ApiLogRow {
  request_id: string;
  api_version: string;
  client: string | null;
  http_method: (typeof HTTP_METHODS)[number];
  http_status: number;
  request_origin: string;
  request_path: string;
  request_body: string | null;
  request_response: string | null;
  logged_at: Temporal.Instant;
  created_at: Temporal.Instant;
}

const columns = (db: Db) => db`
  request_id, api_version, client, http_method, http_status, request_origin, request_path, request_body,
  request_response, logged_at, created_at`;

/**
 * The newest row of a request id, which clients may send more than once.
 *
 * @throws Refusal 404 api_log, of another organization or no longer shown too
 */
export async function getApiLog(
  { db, organizationId }: Scope,
  requestId: string,
  since: Temporal.Instant,
): Promise<ApiLogRow> {
  const [row] = await db<ApiLogRow[]>`
    select ${columns(db)} from api_logs
    where organization_id = ${organizationId} and request_id = ${requestId} and created_at >= ${since}
    order by logged_at desc, id desc
    limit 1`;
  if (!row) throw refuse.notFound('api_log');
  return row;
}

/**
 * A page of the rows since an instant of real time, newest first, and how many there are.
 *
 * @throws Refusal 422 page: value_is_out_of_range, too deep in a list that goes on there
 */
export async function listApiLogs(
  scope: Scope,
  query: ApiLogsQuery,
  since: Temporal.Instant,
): Promise<{ rows: readonly ApiLogRow[]; total: Counted }> {
  const { db } = scope;
  const { limit, offset } = limitOf(query);
  const matching = matches(scope, query, since);
  return boundedPage(query, {
    rows: () => db<ApiLogRow[]>`
      select ${columns(db)} from api_logs where ${matching}
      order by logged_at desc, id desc
      limit ${limit} offset ${offset}`,
    count: () => countMatching(db, db`api_logs where ${matching}`),
  });
}

const matches = ({ db, organizationId }: Scope, query: ApiLogsQuery, since: Temporal.Instant) => db`
  organization_id = ${organizationId} and created_at >= ${since}
  ${query.from_date ? db`and logged_at >= ${query.from_date}` : db``}
  ${query.to_date ? db`and logged_at < ${query.to_date}` : db``}
  ${query.http_methods ? db`and http_method = any (${query.http_methods})` : db``}
  ${
    query.http_statuses
      ? db`and exists (
          select from jsonb_to_recordset(${json(query.http_statuses)}::jsonb) as range (min integer, max integer)
          where http_status between range.min and range.max)`
      : db``
  }
  ${query.api_version === undefined ? db`` : db`and api_version = ${query.api_version}`}
  ${query.request_paths ? db`and request_path like any (${query.request_paths.flatMap(pathPatterns)})` : db``}
  ${query.clients ? db`and client = any (${query.clients})` : db``}
  ${query.api_key_ids ? db`and api_key_id = any (${query.api_key_ids.filter(isUuid)}::uuid[])` : db``}`;
