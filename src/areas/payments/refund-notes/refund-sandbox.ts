import type { Context } from '../../../platform/context.ts';
import type { CreditNoteId } from '../../../platform/ids.ts';
import { type SandboxBehaviour, sandboxRefund } from '../../../platform/payments/sandbox/behaviour.ts';
import { refundStatusOf } from '../../../platform/payments/status-words.ts';
import { findRefund } from '../../credits/credit-notes/refunds.ts';
import { lockCreditNote } from '../../credits/credit-notes/writes.ts';
import { readMethod } from '../../customers/payment-methods/queries.ts';
import { readInvoice } from '../../invoices/invoices/queries.ts';
import { storeInboundEvent } from '../inbound-events/store-inbound-event.ts';
import { readPayment } from '../payments/queries.ts';
import { applyRefund } from './apply-refund.ts';

/** A sandbox's later report about a refund, stored like any provider's event when it is due. */
const TELL_REFUND_STEP = 'tell-sandbox-refund';

/**
 * Step `refund-sandbox-note`: a sandbox decides by the method that paid and without network, so the step refunds it in
 * its own transaction. Rule: provider-connections.md#sandbox-provider.
 */
export async function refundSandboxNote(
  ctx: Context,
  { credit_note_id: id }: { credit_note_id: CreditNoteId },
): Promise<void> {
  const note = await lockCreditNote(ctx, id);
  const refund = await findRefund(ctx, id);
  if (note.refund_status !== 'pending' || !refund || refund.provider_refund_id !== null) return;
  if ((await readInvoice(ctx, note.invoice_id)).payment_dispute_lost_at !== null) return;
  const payment = await readPayment(ctx, refund.payment_id);
  const provider = payment.provider_type!;
  const { status, later } = sandboxRefund(provider, await behaviourOf(ctx, payment.payment_method_id));
  const providerRefundId = `re_sandbox_${id}`;
  await applyRefund(ctx, refund, { providerRefundId, status, refundStatus: refundStatusOf(provider, status) });
  if (!later) return;
  ctx.after({
    step: TELL_REFUND_STEP,
    payload: { connection_id: refund.payment_provider_id, provider_refund_id: providerRefundId, status: later.status },
    dueAt: ctx.now().add({ seconds: later.afterSeconds }),
  });
}

async function behaviourOf(ctx: Context, methodId: string | null): Promise<SandboxBehaviour> {
  const method = methodId === null ? undefined : await readMethod(ctx, methodId);
  return method?.details.behaviour ?? { does: 'succeed' };
}

/** Step `tell-sandbox-refund`: the sandbox reports the outcome of a refund, as every provider does. */
export async function tellSandboxRefund(
  ctx: Context,
  told: { connection_id: string; provider_refund_id: string; status: string },
): Promise<void> {
  const type = 'charge.refund.updated';
  await storeInboundEvent(ctx, {
    connectionId: told.connection_id,
    providerEventId: `evt_${told.provider_refund_id}_${told.status}`,
    type,
    payload: { type, provider_refund_id: told.provider_refund_id, status: told.status },
  });
}
