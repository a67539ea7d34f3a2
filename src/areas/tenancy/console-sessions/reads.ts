import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { listConsoleSessions } from './queries.ts';
import type { ConsoleSessionsQuery } from './schema.ts';
import { consoleSessionView } from './view.ts';

/** A page of the living sessions that hold the organization, newest first. Sessions live in real time. */
export async function showConsoleSessions(ctx: Context, { query }: { query: ConsoleSessionsQuery }) {
  const lives = { now: realNow(), idleMinutes: ctx.config.CONSOLE_IDLE_MINUTES };
  const { rows, totalCount } = await listConsoleSessions(ctx, query, lives);
  return { console_sessions: rows.map(consoleSessionView), meta: pageMeta(query, totalCount) };
}
