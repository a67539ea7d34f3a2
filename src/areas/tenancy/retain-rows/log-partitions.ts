import type { Temporal } from 'temporal-polyfill';
import type { Config } from '../../../platform/config.ts';
import type { Sql } from '../../../platform/db/connect.ts';
import type { SweepDeps } from '../../../platform/periodic-job.ts';
import { classOf } from '../retention/retention-classes.ts';
import { HOURS_OF_A_DAY, longestLogDays } from './delete-old-rows.ts';

/** Logs that are partitioned by the month of their real `created_at` (logs.md#storage). */
export const LOG_TABLES = ['activity_logs', 'api_logs', 'security_logs'] as const;
export type LogTable = (typeof LOG_TABLES)[number];

const BATCH = 5000;
/**
 * Longest wait for the writers of a table, who wait behind it; if it takes longer, the next day's run creates the
 * partition.
 */
const LOCK_TIMEOUT = '2s';
const HAS_ROWS_ALREADY = '23514';

/**
 * Makes the partitions of this and the next month, and drops those wholly older than the longest time for which any
 * organization keeps such a log. Rule: logs.md#storage, retention.md.
 */
export async function keepLogPartitions(deps: SweepDeps, now: Temporal.Instant): Promise<void> {
  for (const table of LOG_TABLES) {
    await createPartition(deps, table, monthOf(now));
    await createPartition(deps, table, monthOf(now).add({ months: 1 }));
    const days = await longestLogDays(deps.sql, table, defaultDays(table, deps.config));
    const oldest = now.subtract({ hours: HOURS_OF_A_DAY * days });
    await dropPartitions(deps, table, oldest);
    while ((await deleteFromDefault(deps.sql, table, oldest)).count === BATCH);
  }
}

function defaultDays(table: LogTable, config: Config): number {
  const { default: days } = classOf(table);
  return typeof days === 'number' ? days : config.AUDIT_LOGS_PERIOD_DAYS;
}

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
    // Rows of the month are in the default partition, because no tick ran before it began: they stay there.
    if ((error as { code?: string }).code !== HAS_ROWS_ALREADY) throw error;
    log.info({ partition: name }, 'month stays in the default partition');
  }
}

async function dropPartitions({ sql, log }: SweepDeps, table: LogTable, oldest: Temporal.Instant): Promise<void> {
  const rows = await sql<{ name: string }[]>`
    select child.relname as name from pg_inherits
    join pg_class child on child.oid = inhrelid
    where inhparent = ${table}::regclass and child.relname ~ ${`^${table}_\\d{4}_\\d{2}$`}`;
  // Partition names sort like their months.
  const kept = partitionName(table, monthOf(oldest));
  for (const { name } of rows.filter((row) => row.name < kept)) {
    await sql.begin(async (tx) => {
      await tx.unsafe(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
      await tx.unsafe(`drop table ${name}`);
    });
    log.info({ partition: name }, 'partition dropped');
  }
}

const deleteFromDefault = (sql: Sql, table: LogTable, before: Temporal.Instant) => sql`
  delete from ${sql(`${table}_default`)} where ctid = any (array(
    select ctid from ${sql(`${table}_default`)} where created_at < ${before} limit ${BATCH}))`;
