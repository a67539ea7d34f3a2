import type { Temporal } from 'temporal-polyfill';
import { onEveryTick } from '../../platform/clock/on-every-tick.ts';
import { realNow } from '../../platform/clock/real-clock.ts';
import { latestTick } from '../../platform/clock/ticks.ts';
import type { SystemDeps } from '../../platform/records/system-transaction.ts';
import type { ScheduleRow } from '../../schedule.ts';
import { claimTick } from '../periodic-jobs/queries.ts';
import { tickJobId } from '../periodic-jobs/tick-job.ts';
import { nudgeAbandonedTicks } from '../sweep-rows/lost-ticks.ts';

/** Interval of looking for unclaimed ticks, also done at the start. */
const MISSED_EVERY = { everySeconds: 60 };
/** Interval of looking for ticks whose lease has run out: with the life of a lease, within a minute in all. */
const ABANDONED_EVERY = { everySeconds: 5 };

/**
 * The clock of the schedule: each row is a cron task in UTC whose ticks are claimed in Postgres, so any number of
 * schedulers may run. A missed tick (no scheduler ran, or the database was away) is caught up by the row's rule: with
 * `latest` the last one is claimed late, and its selection finds everything that fell due meanwhile. A tick whose
 * process was killed or is frozen is nudged again once its lease has run out.
 */
export function startScheduler(
  deps: Pick<SystemDeps, 'sql' | 'producer' | 'log'>,
  rows: readonly ScheduleRow[],
): { close(): Promise<void> } {
  const seen = new Map<string, bigint>();

  const claim = async (row: ScheduleRow, tickAt: Temporal.Instant): Promise<void> => {
    if ((seen.get(row.job) ?? -1n) >= tickAt.epochNanoseconds) return;
    try {
      const claimed = await claimTick(deps.sql, row.job, { tickAt, realNow: realNow() });
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

  const nudgeAbandoned = async (): Promise<void> => {
    try {
      await nudgeAbandonedTicks(deps);
    } catch (error) {
      deps.log.warn({ err: error }, 'abandoned ticks not looked for, tried again in seconds');
    }
  };

  const tasks = rows.map((row) => onEveryTick(row.tick, (tickAt) => claim(row, tickAt)));
  tasks.push(onEveryTick(MISSED_EVERY, claimMissed), onEveryTick(ABANDONED_EVERY, nudgeAbandoned));
  void claimMissed();
  return {
    async close() {
      await Promise.all(tasks.map((task) => task.close()));
    },
  };
}
