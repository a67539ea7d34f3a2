import type { Temporal } from 'temporal-polyfill';
import type { Tx } from '../../platform/db/connect.ts';
import { type SystemDeps, systemTransaction } from '../../platform/records/system-transaction.ts';
import type { Nudges } from '../../platform/records/write-records.ts';
import { type StepHandler, stepHandlers } from '../../steps.ts';
import { takeStep } from './sql.ts';

/** No handler of this process knows the step: during a rolling deploy another worker may, so the step waits. */
export class UnknownStep extends Error {
  constructor(job: string) {
    super(`no handler for the after-step ${job}`);
  }
}

/**
 * Runs one after-step and deletes its row, in one transaction. A step that is gone, not due yet, failed for good or in
 * other hands is left alone. `present` as in systemTransaction.
 *
 * @throws UnknownStep, or whatever its handler throws: the step then stays
 */
export function runStep(
  deps: SystemDeps,
  organization: { id: string; sandbox: boolean },
  stepId: string,
  present: (tx: Tx) => Promise<Temporal.Instant | null>,
  handlers: Readonly<Record<string, StepHandler>> = stepHandlers,
): Promise<Nudges | null> {
  return systemTransaction(deps, organization, present, async (ctx) => {
    const step = await takeStep(ctx.db, organization.id, stepId, ctx.now());
    if (!step) return;
    const handler = handlers[step.job];
    if (!handler) throw new UnknownStep(step.job);
    await handler(ctx, step.payload);
  });
}
