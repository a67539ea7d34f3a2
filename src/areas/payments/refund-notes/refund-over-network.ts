import type { CreditNoteReason } from '../../../engine/credits/credit-note-states.ts';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { CreditNoteId, OrganizationId } from '../../../platform/ids.ts';
import {
  isSilentOnBefore,
  ProviderConflict,
  ProviderRefusal,
  type RefundReason,
} from '../../../platform/payments/port.ts';
import { can } from '../../../platform/payments/providers.ts';
import { refundStatusOf } from '../../../platform/payments/status-words.ts';
import type { SystemDeps } from '../../../platform/records/system-transaction.ts';
import { transactHoldingClock } from '../../../platform/records/transact.ts';
import { Outage } from '../../../platform/refusal.ts';
import { type CreditNoteRow, readCreditNote } from '../../credits/credit-notes/queries.ts';
import { findRefund, noteRefundSent, type RefundRow } from '../../credits/credit-notes/refunds.ts';
import { readInvoice } from '../../invoices/invoices/queries.ts';
import { readPayment } from '../payments/queries.ts';
import { type Connected, connected, isKeyForgotten } from '../provider-network/network.ts';
import { applyRefund, type RefundAnswer } from './apply-refund.ts';

/** Rule: credit-notes.md#refunds. */
const REASONS: Record<CreditNoteReason, RefundReason | null> = {
  duplicated_charge: 'duplicate',
  product_unsatisfactory: 'requested_by_customer',
  order_change: 'requested_by_customer',
  order_cancellation: 'requested_by_customer',
  fraudulent_charge: 'fraudulent',
  other: null,
};

/**
 * Job `payment.refund`: sends the refund of a note with the note's id as key, outside any transaction, and stores the
 * outcome. However often it runs, it is one refund at the provider and one booking here.
 *
 * @throws Outage, when its outcome is unknown: the queue sends it again
 * Rule: credit-notes.md#refunds.
 */
export async function refundOverNetwork(
  deps: SystemDeps,
  {
    organization_id: organizationId,
    credit_note_id: id,
  }: { organization_id: OrganizationId; credit_note_id: CreditNoteId },
): Promise<void> {
  const note = await readCreditNote({ db: deps.sql, organizationId }, id);
  const refund = await findRefund({ db: deps.sql, organizationId }, id);
  if (note.refund_status !== 'pending' || !refund || refund.provider_refund_id !== null) return;
  const invoice = await readInvoice({ db: deps.sql, organizationId }, note.invoice_id);
  if (invoice.payment_dispute_lost_at !== null) return;
  const connection = await connected(deps, organizationId, refund.payment_provider_id);
  const answer = connection ? await send(deps, organizationId, { connection, note, refund }) : NOT_CONNECTED;
  if (answer) await transactHoldingClock(deps, organizationId, (ctx) => applyRefund(ctx, refund, answer));
}

/** Queries a refund that its provider has worked on for long, because its event may be lost. @throws Outage */
export async function lookAfterRefund(
  deps: SystemDeps,
  {
    organization_id: organizationId,
    credit_note_id: id,
  }: { organization_id: OrganizationId; credit_note_id: CreditNoteId },
): Promise<void> {
  const refund = await findRefund({ db: deps.sql, organizationId }, id);
  if (!refund || refund.provider_refund_id === null) return;
  const connection = await connected(deps, organizationId, refund.payment_provider_id);
  if (!connection || !can(connection.row, 'read')) return;
  const told = await connection.provider.readRefund(refund.provider_refund_id);
  const refundStatus = refundStatusOf(connection.row.provider_type, told.status);
  const answer = { ...told, providerRefundId: refund.provider_refund_id, refundStatus };
  await transactHoldingClock(deps, organizationId, (ctx) => applyRefund(ctx, refund, answer, { isEvent: true }));
}

const NOT_CONNECTED: RefundAnswer = {
  providerRefundId: null,
  status: null,
  refundStatus: 'failed',
  error: { code: 'payment_provider_not_found', message: 'The connection by which it was paid is gone.' },
};

async function send(
  deps: SystemDeps,
  organizationId: OrganizationId,
  { connection, note, refund }: { connection: Connected; note: CreditNoteRow; refund: RefundRow },
): Promise<RefundAnswer | undefined> {
  const payment = await readPayment({ db: deps.sql, organizationId }, refund.payment_id);
  // Committed before the call, so that a process that dies during it leaves the time of the first attempt.
  const isRepeated = refund.sent_at !== null;
  const first = await noteRefundSent({ db: deps.sql, organizationId }, note.id, realNow());
  if (isKeyForgotten(connection.row, first)) {
    deps.log.error(
      { organization_id: organizationId, creditNoteId: note.id },
      'a refund of unknown outcome is too old to be sent again',
    );
    return undefined;
  }
  try {
    const made = await connection.provider.refund({
      idempotencyKey: note.id,
      providerPaymentId: payment.provider_payment_id!,
      amountCents: note.refund_amount_cents,
      currency: payment.amount_currency,
      reason: REASONS[note.reason],
      metadata: { credit_note_id: note.id, invoice_id: note.invoice_id },
    });
    return { ...made, refundStatus: refundStatusOf(connection.row.provider_type, made.status) };
  } catch (error) {
    if (error instanceof ProviderConflict) {
      deps.log.error(
        { organization_id: organizationId, creditNoteId: note.id },
        'a provider knows the key of a refund with another content',
      );
      return { providerRefundId: null, status: null, refundStatus: 'pending', error: error.error };
    }
    if (!(error instanceof ProviderRefusal)) throw error;
    if (isRepeated && isSilentOnBefore(error.error)) throw new Outage(connection.row.provider_type, error);
    return { providerRefundId: null, status: null, refundStatus: 'failed', error: error.error };
  }
}
