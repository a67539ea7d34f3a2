import cron from 'node-cron';
import { Temporal } from 'temporal-polyfill';
import { realNow } from '../../platform/clock/real-clock.ts';
import { cronOf, latestTick } from '../../platform/clock/ticks.ts';
import type { SystemDeps } from '../../platform/records/system-transaction.ts';
import type { ScheduleRow } from '../../schedule.ts';
import { claimTick } from './sql.ts';

/** Ticks that nobody claimed are looked for at the start and then this often. */
const MISSED_EVERY = '* * * * *';

/** Id of a tick's job in the queue. */
export const tickJobId = (job: string, tickAt: Temporal.Instant): string => `tick-${job}-${tickAt.epochMilliseconds}`;

/**
 * The clock of the schedule: each row is a cron task in UTC whose ticks are claimed in Postgres, so any number of schedulers
 * may run. A tick that was missed (no scheduler ran, the database was away) is made up by the row's rule: with `latest`
 * the last one is claimed late, and its selection finds all that fell due meanwhile.
 */
export function startScheduler(
  deps: Pick<SystemDeps, 'sql' | 'producer' | 'log'>,
  rows: readonly ScheduleRow[],
): { close(): Promise<void> } {
  const seen = new Map<string, bigint>();

  const claim = async (row: ScheduleRow, tickAt: Temporal.Instant): Promise<void> => {
    if ((seen.get(row.job) ?? -1n) >= tickAt.epochNanoseconds) return;
    try {
      const claimed = await claimTick(deps.sql, row.job, tickAt, realNow());
      seen.set(row.job, tickAt.epochNanoseconds);
      if (!claimed) return;
      const payload = { job: row.job, at: tickAt.toString() };
      await deps.producer.add('periodic.tick', payload, { id: tickJobId(row.job, tickAt) });
    } catch (error) {
      deps.log.warn({ job: row.job, err: error }, 'tick not claimed, tried again in a minute');
    }
  };
  const claimMissed = async (): Promise<void> => {
    const now = realNow();
    await Promise.all(
      rows.filter((row) => row.catchUp === 'latest').map((row) => claim(row, latestTick(row.tick, now))),
    );
  };

  const tasks = rows.map((row) =>
    cron.schedule(cronOf(row.tick), ({ date }) => claim(row, latestTick(row.tick, instantOf(date))), UTC),
  );
  tasks.push(cron.schedule(MISSED_EVERY, claimMissed, UTC));
  void claimMissed();
  return {
    async close() {
      await Promise.all(tasks.map((task) => task.destroy()));
    },
  };
}

const UTC = { timezone: 'UTC', suppressMissedWarning: true };

// The instant the task was meant for: timers may fire a moment early.
const instantOf = (date: Date): Temporal.Instant => Temporal.Instant.fromEpochMilliseconds(date.getTime());
