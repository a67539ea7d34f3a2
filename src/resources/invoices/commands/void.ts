import { canInvoiceMove } from '../../../engine/invoices/invoice-states.ts';
import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { giveBackCoupons } from '../../applied-coupons/endings.ts';
import { bookVoid } from '../../ledger/invoice-voided.ts';
import { markUsage } from '../../usage-thresholds/marks.ts';
import { type InvoiceRow, listLinesOfInvoice } from '../queries.ts';
import { recordInvoice } from '../record.ts';
import type { InvoiceVoid } from '../schema.ts';
import { showInvoice } from '../show.ts';
import { changeInvoice, lockVisibleInvoice } from '../writes.ts';

/**
 * Annuls a final invoice, paid or not: it keeps its number, owes nothing and is asked for no more.
 *
 * @throws Refusal 404 invoice; 405 not_voidable; 422 credit_refund_amount, when more is asked back than the invoice came
 *   to; 422 generate_credit_note, since credit notes cannot be made yet
 * Rules: subscriptions-and-invoices F.12, credits-and-payments C.12.
 */
export async function voidInvoice(ctx: Context, { svc_id, body }: { svc_id: string; body?: InvoiceVoid }) {
  const invoice = await lockVisibleInvoice(ctx, svc_id);
  if (!canInvoiceMove(invoice.status, 'voided')) throw refuse.notAllowed('not_voidable');
  if (body?.generate_credit_note) refuseCreditNote(invoice, body);
  const voided = await changeInvoice(ctx, invoice.id, {
    status: 'voided',
    voided_at: ctx.now(),
    payment_overdue: false,
    ready_for_payment_processing: false,
  });
  await bookVoid(ctx, voided);
  await giveBackCoupons(ctx, invoice.id);
  // What was invoiced counts towards thresholds over the lifetime (usage-and-charges G.4).
  const lines = await listLinesOfInvoice(ctx.db, ctx.organizationId, invoice.id);
  await markUsage(ctx, { ids: lines.map((line) => line.subscription_id) });
  await recordInvoice(ctx, 'invoice.voided', invoice.id);
  return showInvoice(ctx, invoice.id);
}

function refuseCreditNote(invoice: InvoiceRow, body: InvoiceVoid): never {
  const { credit_amount: credit = 0, refund_amount: refund = 0 } = body;
  const creditable = invoice.sub_total_including_taxes_amount_cents;
  if (credit + refund > creditable || refund > invoice.total_paid_amount_cents)
    throw refuse.invalid({ credit_refund_amount: ['total_amount_exceeds_invoice_amount'] });
  throw refuse.invalid({ generate_credit_note: ['unsupported_value'] });
}
