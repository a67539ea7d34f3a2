import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { shownSince } from '../retention/queries.ts';
import { getActivityLog, listActivityLogs } from './queries.ts';
import type { ActivityLogsQuery } from './schema.ts';
import { activityLogView } from './view.ts';

/**
 * A page of the audit trail, newest first, as far back as it is shown. Rule: logs.md#activity-logs, logs.md#storage.
 */
export async function showActivityLogs(ctx: Context, { query }: { query: ActivityLogsQuery }) {
  const since = await shownSince(ctx, 'activity_logs');
  const { rows, total } = await listActivityLogs(ctx, query, since);
  return { activity_logs: rows.map(activityLogView), meta: pageMeta(query, total) };
}

/** @throws Refusal 404 activity_log */
export async function showActivityLog(ctx: Context, { activity_id }: { activity_id: string }) {
  const since = await shownSince(ctx, 'activity_logs');
  return { activity_log: activityLogView(await getActivityLog(ctx, activity_id, since)) };
}
