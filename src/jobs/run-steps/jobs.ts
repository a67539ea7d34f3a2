import type { Temporal } from 'temporal-polyfill';
import { Busy } from '../../platform/busy.ts';
import { holdClock, isSandbox, readOrganizationNow } from '../../platform/clock/organization-clock.ts';
import { realNow, realNowMs } from '../../platform/clock/real-clock.ts';
import type { Tx } from '../../platform/db/connect.ts';
import { isPassing } from '../../platform/db/refusal-of-database.ts';
import type { OrganizationId } from '../../platform/ids.ts';
import type { Handlers, JobInfo } from '../../platform/queue/worker.ts';
import { nudge } from '../../platform/records/nudge.ts';
import type { SystemDeps } from '../../platform/records/system-transaction.ts';
import { Refusal } from '../../platform/refusal.ts';
import { queues } from '../../queues.ts';
import { runStep, StepNotUnderstood } from './run-step.ts';
import type { StepRegistry } from './step-registry.ts';
import { countFailure, markUnknown, type RunError } from './take-step.ts';

/** Delay before a step that found other work in progress is tried again. */
const COME_BACK_MS = 500;
/** Interval in which a step that this worker does not understand is offered to other workers, */
const OFFER_UNKNOWN_MS = 2000;
/** and the time after which it is left to the sweeper, which offers it every two minutes for as long as it waits. */
const OFFER_UNKNOWN_FOR_MS = 60_000;

/**
 * Handler of `step.run`. While the test clock of a sandbox advances, only the advance runs its steps. A refusal fails a
 * step for good, any other error when its attempts are used up; the row then keeps the error until an operator runs it
 * again. A step that this worker does not understand uses no attempt and waits for another worker.
 */
export function stepRunHandlers(deps: SystemDeps, registry: StepRegistry): Pick<Handlers, 'step.run'> {
  return {
    async 'step.run'({ step_id: id, organization_id: organizationId }, info) {
      const sandbox = await isSandbox({ db: deps.sql, organizationId });
      try {
        const organization = { id: organizationId, sandbox };
        const nudges = await runStep(deps, organization, {
          stepId: id,
          present: (tx) => present(tx, organization),
          registry,
        });
        if (nudges) await nudge(deps.producer, organizationId, nudges);
      } catch (error) {
        if (error instanceof Busy) return info.comeBack(COME_BACK_MS);
        if (error instanceof StepNotUnderstood) return wait(deps, { organizationId, id }, error, info);
        if (!isPassing(error)) {
          await countFailure(
            deps.sql,
            { organizationId, id },
            {
              message: error instanceof Error ? error.message : String(error),
              final: error instanceof Refusal,
              mostAttempts: queues.billing.attempts,
              realNow: realNow(),
              now: await readOrganizationNow({ db: deps.sql, organizationId }, sandbox),
              shown: shownOf(error),
            },
          );
        }
        throw error;
      }
    },
  };
}

async function wait(
  deps: SystemDeps,
  step: { organizationId: OrganizationId; id: string },
  error: StepNotUnderstood,
  info: JobInfo,
): Promise<void> {
  const found = await markUnknown(deps.sql, step, { reason: error.message, realNow: realNow() });
  if (found) deps.log.warn({ organization_id: step.organizationId, step_id: step.id }, error.message);
  if (realNowMs() - info.addedAtMs < OFFER_UNKNOWN_FOR_MS) await info.comeBack(OFFER_UNKNOWN_MS);
}

/** The part of a failure that a client may see: the code of a refusal; for a defect only that there was one. */
const shownOf = (error: unknown): RunError => ({
  code: error instanceof Refusal ? String(error.body.code ?? error.body.error) : 'internal_error',
  message: error instanceof Refusal ? String(error.body.error) : 'The work failed and was given up.',
  svc_resource_id: null,
});

async function present(
  tx: Tx,
  organization: { id: OrganizationId; sandbox: boolean },
): Promise<Temporal.Instant | null> {
  const clock = organization.sandbox ? await holdClock({ db: tx, organizationId: organization.id }) : undefined;
  if (clock?.status === 'advancing') return null;
  return clock?.frozen_time ?? realNow();
}
