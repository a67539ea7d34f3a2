import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { shownSince } from '../retention/queries.ts';
import { getApiLog, listApiLogs } from './queries.ts';
import type { ApiLogsQuery } from './schema.ts';
import { apiLogView } from './view.ts';

/**
 * A page of the logged writes, newest first, as far back as they are shown. Rule: logs.md#api-logs, logs.md#storage.
 */
export async function showApiLogs(ctx: Context, { query }: { query: ApiLogsQuery }) {
  const since = await shownSince(ctx, 'api_logs');
  const { rows, total } = await listApiLogs(ctx, query, since);
  return { api_logs: rows.map(apiLogView), meta: pageMeta(query, total) };
}

/** @throws Refusal 404 api_log */
export async function showApiLog(ctx: Context, { request_id }: { request_id: string }) {
  const since = await shownSince(ctx, 'api_logs');
  return { api_log: apiLogView(await getApiLog(ctx, request_id, since)) };
}
