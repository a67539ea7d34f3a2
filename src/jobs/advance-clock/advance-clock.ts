import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { realNow } from '../../platform/clock/real-clock.ts';
import type { OrganizationId } from '../../platform/ids.ts';
import { newId } from '../../platform/ids.ts';
import { writeTimeline } from '../../platform/records/timeline.ts';
import { attempt, JobFailed } from './attempts.ts';
import { isCancelRequested, LeaseLost, releaseLease, renewLease, storeEnd, takeLease } from './clock-lease.ts';
import { type DueInstant, nextDueInstant } from './next-due-instant.ts';
import { entering, START } from './phase-of-advance.ts';
import { sendLeftSteps } from './settle-steps.ts';
import { type AdvanceDeps, isAfter, leaseUntil, moveTo, type Walker } from './walker.ts';
import { begin, workInstant, workOffMarks } from './work-instant.ts';

const HEARTBEAT_MS = 15_000;

/**
 * Walks a test clock from due instant to due instant to its target, unless another worker does. It commits each instant
 * before its work starts, so a worker that takes over repeats at most that instant, whose jobs are idempotent. It ends
 * `ready`, or `failed` with the job that used up its attempts. Rule: test-clocks.md#advancing,
 * test-clocks.md#what-an-advance-promises.
 *
 * isStopping checked between instants; if true the walk is left to another worker
 * @throws lasting outages of the database: the queue tries again
 */
export async function advance(
  deps: AdvanceDeps,
  organizationId: OrganizationId,
  isStopping: () => boolean,
): Promise<'ended' | 'stopped' | 'not ours'> {
  const lease = { organizationId, token: newId() };
  const clock = await takeLease(deps.sql, lease, { realNow: realNow(), until: leaseUntil() });
  if (!clock) return 'not ours';
  const walker: Walker = { deps, lease, clock, phase: clock.phase ?? START };
  const heartbeat = setInterval(() => {
    renewLease(deps.sql, lease, leaseUntil()).catch(() => {}); // the next statement of the walk fails without the lease
  }, HEARTBEAT_MS);
  try {
    return await walk(walker, isStopping);
  } catch (error) {
    if (error instanceof LeaseLost) return 'not ours';
    if (error instanceof JobFailed) {
      await fail(walker, error);
      return 'ended';
    }
    await releaseLease(deps.sql, lease, realNow()).catch(() => {}); // the lease expires by itself
    throw error;
  } finally {
    clearInterval(heartbeat);
  }
}

async function walk(walker: Walker, isStopping: () => boolean): Promise<'ended' | 'stopped'> {
  const { deps, lease } = walker;
  const target = walker.clock.target_time;
  if (walker.phase.stage === 'start') await begin(walker);
  if (walker.phase.stage === 'instant') await workInstant(walker, { settleFirst: true });
  if (walker.phase.stage === 'target') await workOffMarks(walker);
  for (;;) {
    if (isStopping()) {
      await releaseLease(deps.sql, lease, realNow());
      return 'stopped';
    }
    await yieldToOthers();
    const at = walker.clock.frozen_time;
    const { next, canceled } = await lookAhead(walker);
    const isOver = canceled || !next || isAfter(next.at, target);
    if (isOver) {
      const { phase } = walker;
      if (phase.stage !== 'target' || isAfter(target, at))
        await moveTo(walker, entering('target', phase), canceled ? at : target);
      await workOffMarks(walker);
      await end(walker, canceled ? 'canceled' : 'advanced');
      return 'ended';
    }
    if (walker.clock.steps_done >= deps.config.TEST_CLOCK_MAX_STEPS) {
      throw new JobFailed(
        { job: next.job },
        'too_many_steps',
        `${walker.clock.steps_done} instants with work in one advance`,
      );
    }
    await moveTo(walker, entering('instant', walker.phase), next.at);
    await workInstant(walker, { settleFirst: next.hasTimer });
  }
}

/**
 * What comes after the clock's instant. All jobs are asked on one connection, which then knows their statements: spread
 * over the pool, its connections planned every statement each.
 */
async function lookAhead({ deps, lease, clock }: Walker): Promise<{ next: DueInstant | null; canceled: boolean }> {
  const attempted = { job: '' };
  return attempt(attempted, async () => {
    attempted.job = '';
    return deps.sql.begin('read only', async (tx) => {
      const [next, canceled] = await Promise.all([
        nextDueInstant({ db: tx, organizationId: lease.organizationId }, deps.jobs, {
          after: clock.frozen_time,
          // Of the questions of a transaction that fail, the first one made the others fail.
          ask: (job, question) =>
            question().catch((error) => {
              attempted.job ||= job;
              throw error;
            }),
        }),
        isCancelRequested(tx, lease),
      ]);
      return { next, canceled };
    });
  });
}

async function end(walker: Walker, name: 'advanced' | 'canceled'): Promise<void> {
  const { deps, lease, clock } = walker;
  // Whoever sees the end on the primary finds on no replica what was before it.
  await deps.positions?.keep([lease.organizationId]);
  await deps.sql.begin(async (tx) => {
    await storeEnd(tx, lease, { status: 'ready' });
    await writeTimeline(tx, metaOf(clock, lease), [
      { kind: 'clock', name, summary: { from: clock.started_from.toString(), steps_done: clock.steps_done } },
    ]);
  });
  await sendLeftSteps(walker).catch(() => {}); // the sweep sends them
}

async function fail({ deps, lease, clock }: Walker, failure: JobFailed): Promise<void> {
  deps.log.warn({ organization_id: lease.organizationId, job: failure.attempted.job, err: failure }, 'advance failed');
  await deps.sql.begin(async (tx) => {
    await storeEnd(tx, lease, { status: 'failed', error: failure.toError(clock.frozen_time) });
    await writeTimeline(tx, metaOf(clock, lease), [
      { kind: 'clock', name: 'failed', summary: { job: failure.attempted.job, code: failure.code } },
    ]);
  });
}

const metaOf = (clock: Walker['clock'], { organizationId }: Walker['lease']) => ({
  organizationId,
  at: clock.frozen_time,
  realNow: realNow(),
});
