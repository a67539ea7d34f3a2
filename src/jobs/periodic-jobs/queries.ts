import type { Temporal } from 'temporal-polyfill';
import type { Sql } from '../../platform/db/connect.ts';

/** Error of a tick that came while the former run worked; the view of the operator shows it. */
export const SKIPPED = 'skipped: the former run still works';
/** How many of a job's newest ticks are looked at for those that were skipped in a row. */
const NEWEST = 100;

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

interface End {
  realNow: Temporal.Instant;
  error: string | null;
}

export const finishTick = (sql: Sql, job: string, { tickAt, end }: { tickAt: Temporal.Instant; end: End }) => sql`
  update schedule_ticks set finished_at = ${end.realNow}, error = ${end.error}
  where job = ${job} and tick_at = ${tickAt}`;

/** Whether a tick has ended already: its job was sent twice, or a newer tick did its work. */
export async function isTickFinished(sql: Sql, job: string, tickAt: Temporal.Instant): Promise<boolean> {
  const rows = await sql`
    select from schedule_ticks where job = ${job} and tick_at = ${tickAt} and finished_at is not null`;
  return rows.length > 0;
}

/**
 * Ends the work under a lease, in one statement: the ticks up to its own are finished, since it did the work of all,
 * and the lease is free. Does nothing when the lease was lost.
 */
export const finishWork = (
  sql: Sql,
  job: string,
  { holder, tickAt, end }: { holder: string; tickAt: Temporal.Instant; end: End },
) => sql`
  with freed as (
    update periodic_leases set holder = null, tick_at = null, place = null, until = clock_timestamp()
    where schema_key = current_schema() and job = ${job} and holder = ${holder}
    returning 1
  )
  update schedule_ticks set finished_at = ${end.realNow}, error = ${end.error}
  where job = ${job} and tick_at <= ${tickAt} and finished_at is null and exists (select from freed)`;

/** The tick that is worked under the lease of a job. */
export async function workedTick(sql: Sql, job: string): Promise<Temporal.Instant | null> {
  const [row] = await sql<{ tick_at: Temporal.Instant | null }[]>`
    select tick_at from periodic_leases where schema_key = current_schema() and job = ${job}`;
  return row?.tick_at ?? null;
}

/** Ticks that have begun and whose lease has run out: their process was killed, is frozen, or their job was lost. */
export const listAbandonedTicks = (sql: Sql) => sql<
  { job: string; tick_at: Temporal.Instant; until: Temporal.Instant }[]
>`
  select job, tick_at, until from periodic_leases
  where schema_key = current_schema() and tick_at is not null and until < clock_timestamp()`;

/** A job whose newest ticks were all skipped. */
interface SkippedJob {
  job: string;
  /** How many in a row. */
  skipped: number;
  /** The first of them. */
  since: Temporal.Instant;
}

/** Jobs of which at least so many ticks in a row were skipped, whatever they did before; for `/ready`. */
export const listSkippedJobs = (sql: Sql, names: readonly string[], inARow: number) => sql<SkippedJob[]>`
  select job, count(*)::int as skipped, min(tick_at) as since
  from (
    select tick.job, tick.tick_at,
      bool_and(tick.error is not distinct from ${SKIPPED}) over (
        partition by tick.job order by tick.finished_at desc, tick.tick_at desc) as is_in_a_row
    from unnest(${names}::text[]) as name
    cross join lateral (
      select * from schedule_ticks
      where schedule_ticks.job = name and finished_at is not null
      order by tick_at desc limit ${NEWEST}
    ) tick
  ) ticks
  where is_in_a_row
  group by job
  having count(*) >= ${inARow}
  order by job`;

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
