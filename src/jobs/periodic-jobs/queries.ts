import type { Temporal } from 'temporal-polyfill';
import type { Sql } from '../../platform/db/connect.ts';

/** Claims a tick; true for the one caller that got it (everywhere.md#periodic-work). */
export async function claimTick(
  sql: Sql,
  job: string,
  { tickAt, realNow }: { tickAt: Temporal.Instant; realNow: Temporal.Instant },
): Promise<boolean> {
  const rows = await sql`
    insert into schedule_ticks (job, tick_at, claimed_at) values (${job}, ${tickAt}, ${realNow})
    on conflict (job, tick_at) do nothing returning 1`;
  return rows.length > 0;
}

export const finishTick = (
  sql: Sql,
  job: string,
  { tickAt, end }: { tickAt: Temporal.Instant; end: { realNow: Temporal.Instant; error: string | null } },
) => sql`
  update schedule_ticks set finished_at = ${end.realNow}, error = ${end.error}
  where job = ${job} and tick_at = ${tickAt}`;

export interface TickRow {
  job: string;
  tick_at: Temporal.Instant;
  claimed_at: Temporal.Instant;
  finished_at: Temporal.Instant | null;
  error: string | null;
}

/** The last tick of each of some jobs, if it has any. */
export const listLastTicks = (sql: Sql, names: readonly string[]) => sql<TickRow[]>`
  select tick.job, tick.tick_at, tick.claimed_at, tick.finished_at, tick.error
  from unnest(${names}::text[]) as name
  cross join lateral (
    select * from schedule_ticks where schedule_ticks.job = name order by tick_at desc limit 1
  ) tick`;
