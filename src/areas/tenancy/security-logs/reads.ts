import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { shownSince } from '../retention/queries.ts';
import { getSecurityLog, listSecurityLogs } from './queries.ts';
import type { SecurityLogsQuery } from './schema.ts';
import { securityLogView } from './view.ts';

/**
 * A page of the security log, newest first, as far back as it is shown. Rule: logs.md#security-logs, logs.md#storage.
 */
export async function showSecurityLogs(ctx: Context, { query }: { query: SecurityLogsQuery }) {
  const since = await shownSince(ctx, 'security_logs');
  const { rows, total } = await listSecurityLogs(ctx, query, since);
  return { security_logs: rows.map(securityLogView), meta: pageMeta(query, total) };
}

/** @throws Refusal 404 security_log */
export async function showSecurityLog(ctx: Context, { log_id }: { log_id: string }) {
  const since = await shownSince(ctx, 'security_logs');
  return { security_log: securityLogView(await getSecurityLog(ctx, log_id, since)) };
}
