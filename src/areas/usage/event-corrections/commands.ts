import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { lockForCorrection } from './apply-correction.ts';
import { type CorrectionRow, getCorrection, lockCorrection } from './queries.ts';
import { correctionView } from './view.ts';
import { putLast, updateProgress } from './writes.ts';

/**
 * Continues a failed correction where it stopped.
 *
 * @throws Refusal 404 event_correction
 * @throws Refusal 405 invalid_status
 */
export async function retryCorrection(ctx: Context, { svc_id }: { svc_id: string }) {
  await lockForCorrection(ctx, (await getCorrection(ctx, svc_id)).external_subscription_id);
  const correction = await lockCorrection(ctx, svc_id);
  if (correction.status !== 'failed') throw refuse.notAllowed('invalid_status');
  const isApplied = correction.done === correction.total;
  const status = isApplied ? ('applied' as const) : ('pending' as const);
  const again: CorrectionRow = { ...correction, status, error: null, finished_at: null };
  await updateProgress(ctx, again.id, again);
  await putLast(ctx, again.id);
  ctx.after({ step: isApplied ? 'settle-correction' : 'retract-range', payload: { correction_id: again.id } });
  return { correction: correctionView(again) };
}
