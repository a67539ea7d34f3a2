import type { Context } from '../../../platform/context.ts';
import { isCancelled, isPassing } from '../../../platform/db/refusal-of-database.ts';
import type { CorrectionId } from '../../../platform/ids.ts';
import { nested } from '../../../platform/records/nested.ts';
import { Refusal } from '../../../platform/refusal.ts';
import { type CorrectionRow, lockCorrection } from '../../usage/event-corrections/queries.ts';
import { updateProgress } from '../../usage/event-corrections/writes.ts';

type Failure = Pick<CorrectionRow, 'status' | 'error' | 'finished_at'>;

/**
 * Does a part of a correction, or undoes it and returns why it failed. Passing errors such as a deadlock or a timeout
 * are thrown, so that the step runs again: the part may belong to another correction than the one that the step is for.
 */
export async function attempt<Outcome>(
  ctx: Context,
  correctionId: CorrectionId,
  work: (on: Context) => Promise<Outcome>,
): Promise<{ done: Outcome } | { failure: Failure }> {
  try {
    return { done: await nested(ctx, work) };
  } catch (error) {
    if (isPassing(error) || isCancelled(error)) throw error;
    if (!(error instanceof Refusal)) ctx.log.error({ correctionId, err: error }, 'a correction failed');
    return { failure: { status: 'failed', error: errorOf(error), finished_at: ctx.now() } };
  }
}

/** Does a part that an earlier correction owes, or undoes it and lets that one fail. */
export async function attemptOfEarlier(
  ctx: Context,
  earlierId: CorrectionId,
  work: (on: Context, earlier: CorrectionRow) => Promise<unknown>,
): Promise<void> {
  const earlier = await lockCorrection(ctx, earlierId);
  const outcome = await attempt(ctx, earlierId, (on) => work(on, earlier));
  if ('failure' in outcome) await updateProgress(ctx, earlierId, { ...earlier, ...outcome.failure });
}

function errorOf(error: unknown): CorrectionRow['error'] {
  if (!(error instanceof Refusal))
    return { code: 'internal_error', message: 'It could not be carried out', svc_resource_id: null };
  const details = error.body.error_details as Record<string, string[]> | undefined;
  const [code] = Object.values(details ?? {})[0] ?? [String(error.body.code)];
  return { code: code!, message: `It was refused: ${code}`, svc_resource_id: null };
}
