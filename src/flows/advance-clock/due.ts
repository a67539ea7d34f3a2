import type { Temporal } from 'temporal-polyfill';
import { nextTick } from '../../platform/clock/ticks.ts';
import type { Sql } from '../../platform/db/connect.ts';
import { nextTimerAt } from './sql.ts';
import { type AdvanceDeps, isAfter } from './walker.ts';

/**
 * The next instant after `after` at which something of the organization may fall due: the earliest, over all jobs of clock
 * B, of the first tick at or after the moment a row starts to qualify, and the due time of delayed work (platform O.3 step
 * 2). May be an empty visit, never too late. Null when nothing will fall due.
 */
export async function nextDueInstant(
  sql: Sql,
  jobs: AdvanceDeps['jobs'],
  organizationId: string,
  after: Temporal.Instant,
): Promise<{ at: Temporal.Instant; job: string } | null> {
  const instants = await Promise.all([
    nextTimerAt(sql, organizationId, after).then((at) => at && { at, job: 'after-steps' }),
    ...jobs.map(async ({ row, job }) => {
      const from = await job.nextDueAt(sql, organizationId, after);
      return from && { at: nextTick(row.tick, after, from), job: row.job };
    }),
  ]);
  return instants.reduce(
    (earliest, each) => (each && (!earliest || isAfter(earliest.at, each.at)) ? each : earliest),
    null,
  );
}
