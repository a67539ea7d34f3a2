import type { Context } from '../../../platform/context.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { json } from '../../../platform/db/values.ts';
import type { PaymentId, ProviderDriftId } from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { wordsOf } from '../../../platform/payments/providers.ts';
import { refundStatusOf } from '../../../platform/payments/status-words.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { ProviderRow } from '../../customers/payment-providers/queries.ts';
import { readInvoice } from '../../invoices/invoices/queries.ts';
import { bookPayment, bookReversal } from '../../ledger/ledger/payment-booked.ts';
import type { PaymentRow } from '../payments/queries.ts';
import { changePayment, GIVEN_BACK } from '../payments/writes.ts';
import { lockPayment } from './apply-outcome.ts';

/** A refund by which a double payment is given back; it names the drift where others name their note. */
export interface RefundOfDrift {
  driftId: string;
  providerRefundId: string;
  /** The provider's own word. */
  status: string;
}

interface RefundedDrift {
  id: ProviderDriftId;
  status: string;
  payment_id: PaymentId | null;
  refund_id: string | null;
  refund_status: string | null;
  is_booked: boolean;
}

/** Column `is_booked` of a drift: its refund is in the books. */
export const isRefundBooked = (db: Db) =>
  db`coalesce(status = 'repaired' and resolution ->> 'action' = 'refund', false) as is_booked`;

/**
 * Follows the refund of a double payment, whoever reports it: money that was paid out is booked and repairs the drift
 * in whatever state a person has left it; money that was not paid out after all is booked as received again, and the
 * drift is open again. Repeated reports change nothing.
 *
 * Rule: provider-reconciliation.md#repairs.
 */
export async function followRefundOfDrift(ctx: Context, provider: ProviderRow, refund: RefundOfDrift): Promise<void> {
  const { db, organizationId } = ctx;
  const { driftId, providerRefundId, status } = refund;
  const [drift] = isUuid(driftId)
    ? await db<RefundedDrift[]>`
      select id, status, payment_id, refund_id, refund_status,
        ${isRefundBooked(db)}
      from provider_drifts
      where organization_id = ${organizationId} and id = ${driftId} and kind = 'double_payment' for update`
    : [];
  if (!drift) return;
  const state = refundStatusOf(wordsOf(provider), status);
  const isKnown = drift.refund_id === providerRefundId;
  const hasFailed =
    isKnown && drift.refund_status !== null && refundStatusOf(wordsOf(provider), drift.refund_status) === 'failed';
  if (hasFailed) return;
  if (drift.is_booked) {
    if (state === 'failed' && isKnown) await openAgain(ctx, drift, status);
    return;
  }
  await noteRefundOfDrift(ctx, drift.id, { providerRefundId, status, hasFailed: state === 'failed' });
  if (state !== 'succeeded' || drift.payment_id === null) return;
  const payment = await lockPayment(ctx, drift.payment_id);
  if (!(await isWhollyUnapplied(ctx, payment))) return;
  await bookGivenBack(ctx, payment);
  await db`
    update provider_drifts set status = 'repaired', closed_at = coalesce(closed_at, ${ctx.now()}),
      resolution = ${json({ action: 'refund', note: null, by: 'system' })}
    where organization_id = ${organizationId} and id = ${drift.id}`;
}

/** Keeps what the provider said of a refund; of one that failed nothing is under way any more. */
export const noteRefundOfDrift = (
  { db, organizationId }: Pick<Context, 'db' | 'organizationId'>,
  id: ProviderDriftId,
  { providerRefundId, status, hasFailed }: { providerRefundId: string; status: string; hasFailed: boolean },
) => db`
  update provider_drifts set refund_id = ${providerRefundId}, refund_status = ${status},
    refund_asked_at = case when ${hasFailed} then null else refund_asked_at end
  where organization_id = ${organizationId} and id = ${id}`;

/** Whether a payment has come in and nothing of it has paid an invoice, so that it can be given back without a note. */
export const isWhollyUnapplied = async (ctx: Context, payment: PaymentRow): Promise<boolean> =>
  payment.payment_status === 'succeeded' && (await settledCents(ctx, payment)) === 0;

/** What of a payment has paid its invoices. */
export async function settledCents({ db, organizationId }: Context, payment: PaymentRow): Promise<number> {
  const [share] = await db<{ applied: number }[]>`
    select coalesce(sum(amount_cents), 0)::bigint as applied from payment_invoices
    where organization_id = ${organizationId} and payment_id = ${payment.id}`;
  return share!.applied;
}

/**
 * Books that a wholly unapplied payment was given back: its invoices stay paid by the other one. The payment is locked.
 *
 * @throws Refusal 405 invalid_status, when something of it has paid an invoice
 * Rules: provider-reconciliation.md#repairs, ledger.md#l17.
 */
export async function bookGivenBack(ctx: Context, payment: PaymentRow): Promise<void> {
  if (!(await isWhollyUnapplied(ctx, payment))) throw refuse.notAllowed('invalid_status');
  await changePayment(ctx, payment.id, {
    change: { status: GIVEN_BACK, payment_status: 'failed', reversed_at: ctx.now() },
    now: ctx.now(),
  });
  await bookReversal(ctx, payment, await entityOf(ctx, payment));
}

/** The money of a refund came back to us: the payment is unapplied as before, and a person decides anew. */
async function openAgain(ctx: Context, drift: RefundedDrift, status: string): Promise<void> {
  const { db, organizationId } = ctx;
  const payment = await lockPayment(ctx, drift.payment_id!);
  if (payment.status === GIVEN_BACK) {
    await changePayment(ctx, payment.id, {
      change: { status: 'succeeded', payment_status: 'succeeded', reversed_at: null },
      now: ctx.now(),
    });
    await bookPayment(ctx, payment, [], await entityOf(ctx, payment));
  }
  await db`
    update provider_drifts set status = 'open', closed_at = null, resolution = null, refund_asked_at = null,
      refund_status = ${status}, last_seen_at = ${ctx.now()}
    where organization_id = ${organizationId} and id = ${drift.id}`;
}

const entityOf = async (ctx: Context, payment: PaymentRow) =>
  (await readInvoice(ctx, payment.invoices[0]!.id)).billing_entity_id;
