import type { Temporal } from 'temporal-polyfill';
import { listOpenBatches } from '../../areas/usage/ingest-events/open-batches.ts';
import { nextTick } from '../../platform/clock/ticks.ts';
import type { Scope } from '../../platform/db/scope.ts';
import { listOpenSteps, nextTimerAt } from './clock-lease.ts';
import { type AdvanceDeps, isAfter } from './walker.ts';

export interface DueInstant {
  at: Temporal.Instant;
  /** A job that may find work at that instant. */
  job: string;
  /** Whether delayed work is due at that very instant. */
  hasTimer: boolean;
}

type Ask = <Answer>(job: string, question: () => Promise<Answer>) => Promise<Answer>;

/**
 * The next instant after `after` at which something of the organization may fall due: the earliest, over all jobs of
 * clock B, of the first tick at or after the moment a row starts to qualify, and the due time of delayed work
 * (test-clocks.md#advancing step 2). The visit may find nothing, but it is never too late. Null if nothing will fall
 * due. `ask` queries each job.
 */
export async function nextDueInstant(
  scope: Scope,
  jobs: AdvanceDeps['jobs'],
  { after, ask = (_job, question) => question() }: { after: Temporal.Instant; ask?: Ask },
): Promise<DueInstant | null> {
  const [timerAt, ...ticks] = await Promise.all([
    nextTimerAt(scope, after),
    ...jobs.map(async ({ row, job }) => {
      const from = await ask(row.job, () => job.nextDueAt(scope, after));
      return from && { at: nextTick(row.tick, after, from), job: row.job, hasTimer: false };
    }),
  ]);
  let earliest: DueInstant | null = timerAt && { at: timerAt, job: 'after-steps', hasTimer: true };
  for (const tick of ticks) {
    if (tick && (!earliest || isAfter(earliest.at, tick.at))) earliest = tick;
  }
  return earliest;
}

/** Whether anything of the organization is open, or falls due after `from` and not after `until`. */
export async function fallsDue(
  scope: Scope,
  jobs: AdvanceDeps['jobs'],
  { from, until }: { from: Temporal.Instant; until: Temporal.Instant },
): Promise<boolean> {
  // Checked first, because a batch that ends meanwhile leaves steps and marks, which are seen below.
  const batches = await listOpenBatches(scope, 1);
  if (batches.length > 0) return true;
  const [steps, next] = await Promise.all([
    listOpenSteps(scope, from, 1),
    nextDueInstant(scope, jobs, { after: from }),
  ]);
  return steps.length > 0 || (next !== null && !isAfter(next.at, until));
}
