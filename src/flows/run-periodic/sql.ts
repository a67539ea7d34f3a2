import type { Temporal } from 'temporal-polyfill';
import type { Sql } from '../../platform/db/connect.ts';

/** Claims a tick; true for the one caller that got it (README decision 12). */
export async function claimTick(
  sql: Sql,
  job: string,
  tickAt: Temporal.Instant,
  realNow: Temporal.Instant,
): Promise<boolean> {
  const rows = await sql`
    insert into schedule_ticks (job, tick_at, claimed_at) values (${job}, ${tickAt}, ${realNow})
    on conflict (job, tick_at) do nothing returning 1`;
  return rows.length > 0;
}

export const finishTick = (
  sql: Sql,
  job: string,
  tickAt: Temporal.Instant,
  end: { realNow: Temporal.Instant; error: string | null },
) => sql`
  update schedule_ticks set finished_at = ${end.realNow}, error = ${end.error}
  where job = ${job} and tick_at = ${tickAt}`;
