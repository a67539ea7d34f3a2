import { setTimeout as pause } from 'node:timers/promises';
import { finishOpenBatches } from '../../areas/usage/ingest-events/finish-batches.ts';
import { realNow } from '../../platform/clock/real-clock.ts';
import { stepJob } from '../../platform/records/nudge.ts';
import { runStep, StepNotUnderstood } from '../run-steps/run-step.ts';
import { markUnknown } from '../run-steps/take-step.ts';
import { attempt, JobFailed } from './attempts.ts';
import { listOpenSteps } from './clock-lease.ts';
import { instantOf, nudgeDeliveries, type Walker } from './walker.ts';

const PAGE = 200;
/** How many steps one job may cause directly and indirectly; more indicate a loop. */
const MOST_STEPS = 100_000;
/** The sweeper may be running a listed step; wait this long, then look again. */
const PAUSE_MS = 20;

/**
 * Settles open work at the clock's instant: unfinished batches of events, after-steps that are due, and their
 * consequences (test-clocks.md#advancing "settled", test-clocks.md#what-an-advance-promises).
 *
 * @returns the number of settled items
 * @throws JobFailed, LeaseLost
 */
export async function settle(walker: Walker): Promise<number> {
  const { deps, lease, clock } = walker;
  const organization = { id: lease.organizationId, sandbox: true };
  let done = 0;
  let former: string | undefined;
  for (;;) {
    // In this order, because a batch that another worker ends meanwhile leaves steps, which are seen after it.
    const batches = await attempt({ job: 'finish-batch' }, () =>
      finishOpenBatches({ db: deps.sql, organizationId: organization.id }),
    );
    const steps = await listOpenSteps({ db: deps.sql, organizationId: organization.id }, clock.frozen_time, PAGE);
    done += batches;
    if (steps.length === 0 && batches === 0) return done;
    if (steps.length === 0) continue;
    if (steps[0]!.id === former) await pause(PAUSE_MS);
    former = steps[0]!.id;
    for (const step of steps) {
      const attempted = { job: step.job };
      if (done >= MOST_STEPS) throw new JobFailed(attempted, 'too_many_steps', `more than ${MOST_STEPS} after-steps`);
      const nudges = await attempt(attempted, () =>
        runStep(deps, organization, {
          stepId: step.id,
          present: (tx) => instantOf(tx, lease),
          registry: deps.steps,
        }).catch(async (error: unknown) => {
          if (error instanceof StepNotUnderstood)
            await markUnknown(
              deps.sql,
              { organizationId: organization.id, id: step.id },
              { reason: error.message, realNow: realNow() },
            );
          throw error;
        }),
      );
      await nudgeDeliveries(walker, nudges);
      done += 1;
    }
  }
}

/**
 * Enqueues the steps that others left between the last look and the end of the advance, because their jobs did nothing
 * while it ran. To be called after the end is committed; what is not enqueued is found by the sweep after two minutes.
 */
export async function sendLeftSteps({ deps, lease, clock }: Walker): Promise<void> {
  const left = await listOpenSteps({ db: deps.sql, organizationId: lease.organizationId }, clock.frozen_time, PAGE);
  await deps.producer.addMany(
    'step.run',
    left.map((step) => stepJob(step, lease.token)),
  );
}
