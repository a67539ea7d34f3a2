import { isTick, nextTick } from '../../platform/clock/ticks.ts';
import { runJob, selectDue } from './run-job.ts';
import { settle } from './settle-steps.ts';
import { isAfter, moveTo, type Walker } from './walker.ts';

/** In how many rounds jobs that treat marks may set marks for each other at the target. */
const MOST_ROUNDS = 10;

/**
 * The start of an advance: stores which marks requests had set for ticks after the target, and settles open work.
 *
 * @throws JobFailed, LeaseLost
 */
export async function begin(walker: Walker): Promise<void> {
  const { frozen_time: from, target_time: target } = walker.clock;
  const waiting: Record<string, string[]> = {};
  for (const { row, job } of markJobs(walker)) {
    if (!isAfter(nextTick(row.tick, from), target)) continue;
    const keys = (await selectDue(walker, job)).map((due) => due.key);
    if (keys.length > 0) waiting[row.job] = keys;
  }
  await settle(walker);
  await moveTo(walker, { ...walker.phase, stage: 'begun', waiting });
}

/**
 * Works one instant: delayed work, then every job that ticks now, in order, each with its consequences. A continued
 * instant starts with the job that was in work.
 *
 * settleFirst whether work may be open already: delayed work is due, or the instant was interrupted
 *
 * @throws JobFailed, LeaseLost
 */
export async function workInstant(walker: Walker, { settleFirst }: { settleFirst: boolean }): Promise<void> {
  const { deps, clock, phase } = walker;
  const settled = settleFirst ? await settle(walker) : 0;
  if (settled > 0 && !phase.counted) {
    await moveTo(walker, { ...phase, counted: true }, clock.frozen_time, clock.steps_done + 1);
  }
  const ticking = deps.jobs.filter(({ row }) => isTick(row.tick, clock.frozen_time));
  const first = Math.max(
    0,
    ticking.findIndex(({ row }) => row.job === phase.job),
  );
  for (const { job } of ticking.slice(first)) await runJob(walker, job);
}

/**
 * At the target: treats marks that the advance's own jobs set for ticks after it, so that `ready` means done
 * (test-clocks.md#advancing).
 *
 * @throws JobFailed, LeaseLost
 */
export async function workOffMarks(walker: Walker): Promise<void> {
  const { deps, clock } = walker;
  await settle(walker);
  for (let round = 1; round <= MOST_ROUNDS; round += 1) {
    let found = false;
    for (const { row, job } of markJobs(walker)) {
      const neverTicked = isAfter(nextTick(row.tick, clock.started_from), clock.target_time);
      const worked = await runJob(walker, job, neverTicked ? walker.phase.waiting[row.job] : []);
      found ||= worked;
    }
    if (!found) return;
  }
  deps.log.warn({ organization_id: walker.lease.organizationId }, 'marks are set again and again, left to their ticks');
}

const markJobs = (walker: Walker) => walker.deps.jobs.filter(({ row }) => row.worksOffMarks);
