import { Temporal } from 'temporal-polyfill';
import { realNow } from '../../platform/clock/real-clock.ts';
import { LEASE_TIMES, type Lease, LeaseLost, takeLease } from '../../platform/leases/lease.ts';
import type { PeriodicJob, SweepDeps, SweepJob } from '../../platform/periodic-job.ts';
import type { JobInfo } from '../../platform/queue/worker.ts';
import type { JobPayload } from '../../queues.ts';
import { finishTick, finishWork, isTickFinished, SKIPPED, workedTick } from '../periodic-jobs/queries.ts';
import { fanOut } from './fan-out.ts';
import type { Registry } from './periodic-registry.ts';

/**
 * Runs one tick: a sweep does its work here, a job of clock B selects what is due and fans out one `periodic.work` per
 * item. It holds the lease of its job, and a tick is skipped while the former run still works.
 *
 * @returns false when the queue that it fills is full: it is to be run again soon, and holds no lease meanwhile; a
 *   newer tick then goes on in its place, at its own instant
 *
 * Rules: periodic-jobs.md "single", periodic-jobs.md#leases, periodic-jobs.md#back-pressure.
 */
export async function runTick(
  deps: SweepDeps,
  registry: Registry,
  payload: JobPayload<'periodic.tick'>,
  info: Pick<JobInfo, 'lastAttempt'>,
  times = LEASE_TIMES,
): Promise<boolean> {
  const { sql, log } = deps;
  const { job: name } = payload;
  const tickAt = Temporal.Instant.from(payload.at);
  const job =
    registry.periodicJobs.find((each) => each.name === name) ?? registry.sweepJobs.find((each) => each.name === name);
  if (!job) {
    log.warn({ job: name }, 'tick of a job that is not in the table');
    return true;
  }
  if (await isTickFinished(sql, name, tickAt)) return true;
  const lease = await takeLease(sql, name, { tickAt, times });
  if (!lease) {
    await skip(deps, name, tickAt);
    return true;
  }
  const at = lease.tickAt!;
  const finish = (error: string | null) =>
    finishWork(sql, name, { holder: lease.holder, tickAt: at, end: { realNow: realNow(), error } });
  try {
    const isOver = await work(deps, job, { at, lease });
    if (isOver) await finish(null);
    else await lease.release();
    return isOver;
  } catch (error) {
    if (error instanceof LeaseLost) {
      log.warn({ job: name, at: at.toString() }, 'the lease was lost: the tick stops here, another process goes on');
      return true;
    }
    if (info.lastAttempt) await finish(error instanceof Error ? error.message : String(error));
    else await lease.release();
    throw error;
  } finally {
    lease.stop();
  }
}

/**
 * A tick that finds its own work in other hands ends without a trace: whoever works is alive, or its lease runs out and
 * the schedulers find the tick.
 */
async function skip({ sql }: SweepDeps, job: string, tickAt: Temporal.Instant): Promise<void> {
  const worked = await workedTick(sql, job);
  if (worked !== null && Temporal.Instant.compare(worked, tickAt) >= 0) return;
  await finishTick(sql, job, { tickAt, end: { realNow: realNow(), error: SKIPPED } });
}

/** @returns whether the tick is over; else its queue is full, and it goes on later */
async function work(
  deps: SweepDeps,
  job: PeriodicJob | SweepJob,
  { at, lease }: { at: Temporal.Instant; lease: Lease },
): Promise<boolean> {
  if ('select' in job) return fanOut(deps, job, at, lease);
  await job.sweep(deps, at, () => lease.hold());
  return true;
}
