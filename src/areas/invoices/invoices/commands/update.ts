import type { PaymentStatus } from '../../../../engine/invoices/invoice-states.ts';
import type { Context } from '../../../../platform/context.ts';
import { newId } from '../../../../platform/ids.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { bookMarkedPaid } from '../../../ledger/ledger/marked-paid.ts';
import { setPaymentStatus } from '../payment-status.ts';
import type { InvoiceRow } from '../queries.ts';
import type { InvoiceUpdate } from '../schema.ts';
import { showInvoice } from '../show-invoice.ts';
import { lockVisibleInvoice, replaceMetadata } from '../writes.ts';

/**
 * Changes the payment status and metadata of an invoice that is not a draft; the status is set without checking
 * payments.
 *
 * @throws Refusal 404 invoice; 405 update_on_voided_invoice, metadata_on_draft_invoice,
 *   payment_status_update_on_draft_invoice
 * Rules: invoice-operations.md#operations, invoice-amounts.md#settlement.
 */
export async function updateInvoice(ctx: Context, { svc_id, body }: { svc_id: string; body: InvoiceUpdate }) {
  const invoice = await lockVisibleInvoice(ctx, svc_id);
  const { metadata, payment_status: paymentStatus } = body;
  if (invoice.status === 'voided') throw refuse.notAllowed('update_on_voided_invoice');
  if (invoice.status === 'draft' && metadata) throw refuse.notAllowed('metadata_on_draft_invoice');
  if (invoice.status === 'draft' && paymentStatus) throw refuse.notAllowed('payment_status_update_on_draft_invoice');

  if (metadata) await storeMetadata(ctx, invoice, metadata);
  if (paymentStatus && paymentStatus !== invoice.payment_status) await markStatus(ctx, invoice, paymentStatus);
  return showInvoice(ctx, invoice.id);
}

/** Entries that name a stored one are changes of it, others are new; what is not named is gone. */
function storeMetadata(
  ctx: Context,
  invoice: InvoiceRow,
  items: NonNullable<InvoiceUpdate['metadata']>,
): Promise<void> {
  const known = new Map(invoice.metadata.map((item) => [item.id, item]));
  const kept = items.map(({ id, svc_id, key, value }) => {
    const former = known.get(id ?? svc_id ?? '');
    if (former) known.delete(former.id);
    return { id: former?.id ?? newId(), key, value, created_at: former?.created_at ?? ctx.now().toString() };
  });
  return replaceMetadata(ctx, invoice.id, { items: kept, now: ctx.now() });
}

/** The journal records that it was paid elsewhere (ledger.md#l20). */
async function markStatus(ctx: Context, invoice: InvoiceRow, status: PaymentStatus): Promise<void> {
  const changed = await setPaymentStatus(ctx, invoice, status);
  if (invoice.status === 'finalized') await bookMarkedPaid(ctx, changed);
}
