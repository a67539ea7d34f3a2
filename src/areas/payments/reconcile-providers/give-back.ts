import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { ProviderDriftId } from '../../../platform/ids.ts';
import { isSilentOnBefore, ProviderRefusal } from '../../../platform/payments/port.ts';
import { can, wordsOf } from '../../../platform/payments/providers.ts';
import { refundStatusOf } from '../../../platform/payments/status-words.ts';
import { transactHoldingClock } from '../../../platform/records/transact.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { ProviderRow } from '../../customers/payment-providers/queries.ts';
import { bookGivenBack, noteRefundOfDrift } from '../collect-payments/follow-refund-of-drift.ts';
import type { PaymentRow } from '../payments/queries.ts';
import { type DriftRow, lockDrift } from '../provider-drifts/queries.ts';
import { closeDrift } from '../provider-drifts/writes.ts';
import type { Connected, NetworkDeps } from '../provider-network/network.ts';
import { type Answered, compareAnew, toRepair } from './compare-anew.ts';
import { lockDoublePayment, type ToRepair } from './repair.ts';

/**
 * Has a double payment given back, with the drift named where a refund of a note names the note. That it is asked for
 * is committed before the call, and what was answered as soon as it is, however late: a later run, an event or the same
 * action goes on from there. A refund that failed is asked for again under another key.
 *
 * @throws Refusal 405; ProviderRefusal, also for a refund that failed; Outage
 */
export async function giveBack(
  deps: NetworkDeps,
  scope: Scope,
  { row, provider }: Connected,
  { driftId, told }: { driftId: ProviderDriftId; told: Answered },
): Promise<void> {
  if (!can(row, 'refund')) throw refuse.notAllowed('feature_not_supported');
  let asked: { payment: PaymentRow; drift: DriftRow } | undefined;
  await transactHoldingClock(deps, scope.organizationId, async (ctx) => {
    asked = await askRefund(ctx, row, driftId, told);
  });
  if (!asked) return;
  const { payment, drift } = asked;
  const { refund_id: refundId, refund_status: status } = drift;
  const hasFailedBefore = status !== null && refundStatusOf(wordsOf(row), status) === 'failed';
  if (refundId !== null && !hasFailedBefore) {
    if (can(row, 'read')) await keepRefund(scope, row, driftId, { ...(await provider.readRefund(refundId)), refundId });
    return;
  }
  let made: { providerRefundId: string; status: string };
  try {
    made = await provider.refund({
      idempotencyKey: refundId === null ? `drift-${driftId}` : `drift-${driftId}-${refundId}`,
      providerPaymentId: drift.provider_object_id,
      amountCents: payment.amount_cents,
      currency: payment.amount_currency,
      reason: 'duplicate',
      metadata: { credit_note_id: driftId },
    });
  } catch (error) {
    if (error instanceof ProviderRefusal && !isSilentOnBefore(error.error)) await noteRefused(scope, driftId);
    throw error;
  }
  await keepRefund(scope, row, driftId, { refundId: made.providerRefundId, status: made.status });
}

/** @throws ProviderRefusal, for a refund that failed */
async function keepRefund(
  scope: Scope,
  row: ProviderRow,
  driftId: ProviderDriftId,
  { refundId: providerRefundId, status }: { refundId: string; status: string },
): Promise<void> {
  const hasFailed = refundStatusOf(wordsOf(row), status) === 'failed';
  await noteRefundOfDrift(scope, driftId, { providerRefundId, status, hasFailed });
  if (hasFailed) throw new ProviderRefusal({ code: 'refund_failed', message: `The refund is ${status} there.` });
}

/** Commits that a refund is asked for; undefined when nothing is left to be given back. */
async function askRefund(ctx: Context, provider: ProviderRow, id: ProviderDriftId, told: Answered) {
  const drift = await lockDrift(ctx, id);
  if (drift.status !== 'open') return undefined;
  const now = await compareAnew(ctx, provider, drift, told);
  if (now === 'gone' && drift.refund_asked_at === null) return undefined;
  const payment = await lockDoublePayment(ctx, provider, now === 'gone' ? toRepair(drift) : now);
  await ctx.db`
    update provider_drifts set payment_id = ${payment.id}, refund_asked_at = coalesce(refund_asked_at, ${realNow()})
    where organization_id = ${ctx.organizationId} and id = ${id}`;
  return { payment, drift };
}

/** The provider has looked at the request and made no refund. */
const noteRefused = ({ db, organizationId }: Scope, id: ProviderDriftId) => db`
  update provider_drifts set refund_asked_at = null where organization_id = ${organizationId} and id = ${id}`;

/** Books a double payment that was given back; the drift stays open until the provider has paid the refund out. */
export async function endGivenBack(
  ctx: Context,
  provider: ProviderRow,
  { drift, now, note }: { drift: DriftRow; now: ToRepair; note: string | null },
): Promise<void> {
  const payment = await lockDoublePayment(ctx, provider, now);
  const isPaidOut =
    drift.refund_status !== null && refundStatusOf(wordsOf(provider), drift.refund_status) === 'succeeded';
  if (!isPaidOut) {
    if (drift.refund_asked_at === null && !ctx.asked?.isRehearsal) throw refuse.notAllowed('invalid_status');
    return;
  }
  await bookGivenBack(ctx, payment);
  await closeDrift(ctx, drift.id, { status: 'repaired', resolution: { action: 'refund', note, by: 'person' } });
}
