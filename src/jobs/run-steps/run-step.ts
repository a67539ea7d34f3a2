import type { Temporal } from 'temporal-polyfill';
import type { z } from 'zod';
import type { Tx } from '../../platform/db/connect.ts';
import type { OrganizationId } from '../../platform/ids.ts';
import { type SystemDeps, systemTransaction } from '../../platform/records/system-transaction.ts';
import type { Nudges } from '../../platform/records/write-records.ts';
import type { StepRegistry } from './step-registry.ts';
import { takeStep } from './take-step.ts';

/**
 * This process has no handler for the step, or its schema does not accept the stored payload. During a rolling deploy
 * another worker may understand it, so the step waits.
 */
export class StepNotUnderstood extends Error {}

/**
 * Runs one after-step and deletes its row, in one transaction. A step that is gone, not due yet, failed for good or
 * held by another worker is skipped. `present` as in systemTransaction.
 *
 * @throws StepNotUnderstood, or the error of its handler; the step then stays
 */
export function runStep(
  deps: SystemDeps,
  organization: { id: OrganizationId; sandbox: boolean },
  {
    stepId,
    present,
    registry,
  }: { stepId: string; present: (tx: Tx) => Promise<Temporal.Instant | null>; registry: StepRegistry },
): Promise<Nudges | null> {
  return systemTransaction(deps, organization, present, async (ctx) => {
    const step = await takeStep({ db: ctx.db, organizationId: organization.id }, stepId, ctx.now());
    if (!step) return;
    const known = registry.get(step.job);
    if (!known) throw new StepNotUnderstood(`no handler for the after-step ${step.job}`);
    const parsed = known.payload.safeParse(step.payload);
    if (!parsed.success)
      throw new StepNotUnderstood(`payload of ${step.job} not understood: ${faultsOf(parsed.error)}`);
    await known.run(ctx, parsed.data as never);
  });
}

/** Names the fields that do not fit and why, without their values. */
const faultsOf = ({ issues }: z.ZodError): string =>
  issues
    .slice(0, MOST_FAULTS)
    .map(({ path, code, message }) => `${path.join('.') || 'payload'}: ${code === 'custom' ? message : code}`)
    .join('; ');

/** How many faults the row's error lists; the first ones show which field has changed. */
const MOST_FAULTS = 5;
