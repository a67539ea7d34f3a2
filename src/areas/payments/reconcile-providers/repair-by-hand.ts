import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { findProviderById } from '../../customers/payment-providers/queries.ts';
import { actionsOf, getDrift, lockDrift } from '../provider-drifts/queries.ts';
import type { DriftRepair } from '../provider-drifts/schema.ts';
import { driftView } from '../provider-drifts/view.ts';
import { closeDrift } from '../provider-drifts/writes.ts';
import { type Answered, compareAnew, toRepair } from './compare-anew.ts';
import { endGivenBack } from './give-back.ts';
import { applyDrift } from './repair.ts';

/**
 * Ends a drift as a person decides, after both sides are compared anew: one that is gone has vanished.
 *
 * @throws Refusal 404 provider_drift; 405 invalid_status, for an action that it does not offer, or when it is not open;
 *   422 note, when an error is resolved without one
 * Rule: provider-reconciliation.md#routes.
 */
export async function repairByHand(ctx: Context, { svc_id, body }: { svc_id: string; body: DriftRepair }) {
  const drift = await lockDrift(ctx, (await getDrift(ctx, svc_id)).id);
  const { action } = body;
  const note = body.note ?? null;
  if (!actionsOf(drift).includes(action)) throw refuse.notAllowed('invalid_status');
  if (action === 'resolve' && drift.severity === 'error' && (note ?? '').trim() === '')
    throw refuse.invalid({ note: ['value_is_mandatory'] });
  const provider = (await findProviderById(ctx, drift.connection_id))!;
  const told = ctx.asked?.answer as Answered | undefined;
  const now = await compareAnew(ctx, provider, drift, told);
  if (action === 'refund' && (drift.refund_asked_at !== null || now !== 'gone'))
    await endGivenBack(ctx, provider, { drift, now: now === 'gone' ? toRepair(drift) : now, note });
  else if (now === 'gone') await closeDrift(ctx, drift.id, { status: 'vanished' });
  else {
    if (action === 'apply') await applyDrift(ctx, provider, now);
    const status = action === 'resolve' ? 'resolved' : 'repaired';
    await closeDrift(ctx, drift.id, { status, resolution: { action, note, by: 'person' } });
  }
  return { provider_drift: driftView(await getDrift(ctx, drift.id)) };
}
