import type { Temporal } from 'temporal-polyfill';
import { nextTick, type Tick } from '../../platform/clock/ticks.ts';
import { milliseconds, millisecondsOrNull, seconds } from '../../platform/schema/view.ts';
import type { TickRow } from './queries.ts';

/** The schedule of a job. */
export interface ScheduledJob {
  job: string;
  tick: Tick;
  clock: 'B' | 'R';
}

/**
 * A periodic job as the operator sees it: its ticks and the outcome of the last one. For a job in the organizations'
 * time (clock B) a tick is done when its work is in the queue `billing`.
 *
 * Rules: periodic-jobs.md, other-routes.md#records "periodic jobs".
 */
export function jobView({ job, tick, clock }: ScheduledJob, last: TickRow | undefined, now: Temporal.Instant) {
  return {
    name: job,
    clock: clock === 'B' ? 'business' : 'real',
    schedule: scheduleText(tick),
    next_tick_at: seconds(nextTick(tick, now)),
    last_run: last
      ? {
          status: last.finished_at === null ? 'running' : last.error === null ? 'done' : 'failed',
          tick_at: milliseconds(last.tick_at),
          started_at: milliseconds(last.claimed_at),
          finished_at: millisecondsOrNull(last.finished_at),
          duration_ms: last.finished_at && last.finished_at.epochMilliseconds - last.claimed_at.epochMilliseconds,
          error: last.error,
        }
      : null,
  };
}

function scheduleText(tick: Tick): string {
  if ('everySeconds' in tick) return `every ${tick.everySeconds} seconds`;
  if ('minuteOfHour' in tick) return `hourly at :${String(tick.minuteOfHour).padStart(2, '0')}`;
  return `daily at ${tick.timeOfDay} UTC`;
}
