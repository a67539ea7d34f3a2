import type { Temporal } from 'temporal-polyfill';
import { realNow } from '../../platform/clock/real-clock.ts';
import type { Sql } from '../../platform/db/connect.ts';
import { firstIdAt } from '../../platform/ids.ts';
import type { SweepDeps, SweepJob } from '../../platform/periodic-job.ts';

const LOG_TABLES = ['activity_logs', 'api_logs'] as const;
type LogTable = (typeof LOG_TABLES)[number];
const TICKS_KEPT_DAYS = 7;
/** Life of a timeline after its clock (beyond 1.3). */
const TIMELINES_KEPT_DAYS = 30;
/** Rule: beyond 9. */
const AUDITS_KEPT_DAYS = 90;
/** Rule: beyond 6.2. */
const VERIFICATIONS_KEPT_DAYS = 400;
const BATCH = 5000;
/** A partition waits this long for the writers of its table, who wait behind it; else the next day does it. */
const LOCK_TIMEOUT = '2s';
const HAS_ROWS_ALREADY = '23514';

/**
 * Creates the log partitions of this and the next month, drops what is older than the longest period that any
 * organization shows (platform H.4), old ticks, the timelines of clocks deleted long ago, old runs of the auditor and old verifications.
 */
export const housekeeping: SweepJob = {
  name: 'housekeeping',
  async sweep(deps) {
    const now = realNow();
    const oldest = now.subtract({ hours: 24 * (await longestPeriodDays(deps.sql)) });
    for (const table of LOG_TABLES) {
      await createPartition(deps, table, monthOf(now));
      await createPartition(deps, table, monthOf(now).add({ months: 1 }));
      await dropPartitions(deps, table, oldest);
      await deleteInBatches((limit) => deleteFromDefault(deps.sql, table, oldest, limit));
    }
    const ticksFrom = now.subtract({ hours: 24 * TICKS_KEPT_DAYS });
    await deleteInBatches((limit) => deleteTicks(deps.sql, ticksFrom, limit));
    const timelinesFrom = now.subtract({ hours: 24 * TIMELINES_KEPT_DAYS });
    await deleteInBatches((limit) => deleteTimelines(deps.sql, timelinesFrom, limit));
    await deleteInBatches((limit) =>
      deleteMadeBefore(deps.sql, 'audit_runs', daysBefore(now, AUDITS_KEPT_DAYS), limit),
    );
    await deleteInBatches((limit) =>
      deleteMadeBefore(deps.sql, 'verifications', daysBefore(now, VERIFICATIONS_KEPT_DAYS), limit),
    );
  },
};

const daysBefore = (now: Temporal.Instant, days: number): Temporal.Instant => now.subtract({ hours: 24 * days });

const monthOf = (at: Temporal.Instant): Temporal.PlainYearMonth =>
  at.toZonedDateTimeISO('UTC').toPlainDate().toPlainYearMonth();

const partitionName = (table: LogTable, month: Temporal.PlainYearMonth): string =>
  `${table}_${month.toString().replace('-', '_')}`;

async function createPartition(
  { sql, log }: SweepDeps,
  table: LogTable,
  month: Temporal.PlainYearMonth,
): Promise<void> {
  const name = partitionName(table, month);
  const [from, to] = [month, month.add({ months: 1 })].map((each) => `${each.toString()}-01T00:00:00Z`);
  try {
    await sql.begin(async (tx) => {
      await tx.unsafe(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
      await tx.unsafe(
        `create table if not exists ${name} partition of ${table} for values from ('${from}') to ('${to}')`,
      );
    });
  } catch (error) {
    // Rows of the month stand in the default partition, as in the month of the first start: they stay there.
    if ((error as { code?: string }).code !== HAS_ROWS_ALREADY) throw error;
    log.info({ partition: name }, 'month stays in the default partition');
  }
}

async function dropPartitions({ sql, log }: SweepDeps, table: LogTable, oldest: Temporal.Instant): Promise<void> {
  const rows = await sql<{ name: string }[]>`
    select child.relname as name from pg_inherits
    join pg_class child on child.oid = inhrelid
    where inhparent = ${table}::regclass and child.relname ~ ${`^${table}_\\d{4}_\\d{2}$`}`;
  // Names sort like their months.
  const kept = partitionName(table, monthOf(oldest));
  for (const { name } of rows.filter((row) => row.name < kept)) {
    await sql.begin(async (tx) => {
      await tx.unsafe(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
      await tx.unsafe(`drop table ${name}`);
    });
    log.info({ partition: name }, 'partition dropped');
  }
}

async function longestPeriodDays(sql: Sql): Promise<number> {
  const [row] = await sql<
    { days: number }[]
  >`select coalesce(max(audit_logs_period_days), 30) as days from organizations`;
  return row!.days;
}

async function deleteInBatches(remove: (limit: number) => Promise<{ count: number }>): Promise<void> {
  while ((await remove(BATCH)).count === BATCH);
}

const deleteFromDefault = (sql: Sql, table: LogTable, before: Temporal.Instant, limit: number) => sql`
  delete from ${sql(`${table}_default`)} where ctid = any (array(
    select ctid from ${sql(`${table}_default`)} where created_at < ${before} limit ${limit}))`;

const deleteTicks = (sql: Sql, before: Temporal.Instant, limit: number) => sql`
  delete from schedule_ticks where ctid = any (array(
    select ctid from schedule_ticks where tick_at < ${before} limit ${limit}))`;

const deleteTimelines = (sql: Sql, before: Temporal.Instant, limit: number) => sql`
  delete from test_clock_timeline where ctid = any (array(
    select line.ctid from test_clock_timeline line
    join test_clock_timelines timeline on timeline.organization_id = line.organization_id
    where timeline.clock_deleted_at < ${before} or (line.sequence < timeline.first and line.created_at < ${before})
    limit ${limit}))`;

/** Rows whose ids were made before an instant of real time, which organizations with a test clock do not show elsewhere. */
const deleteMadeBefore = (
  sql: Sql,
  table: 'audit_runs' | 'verifications',
  before: Temporal.Instant,
  limit: number,
) => sql`
  delete from ${sql(table)} where id = any (array(
    select id from ${sql(table)} where id < ${firstIdAt(before)} limit ${limit}))`;
