import { canInvoiceMove } from '../../../engine/invoices/invoice-states.ts';
import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { markUsage } from '../../catalog/usage-thresholds/usage-marks.ts';
import { giveBackCoupons } from '../../credits/applied-coupons/endings.ts';
import { giveBackToNotes, makeNotesOfVoid } from '../../credits/credit-notes/commands/on-invoice-void.ts';
import { recreditWallets } from '../../credits/wallet-transactions/give-back-to-wallets.ts';
import { failTopUp } from '../../credits/wallet-transactions/top-up-payment.ts';
import { cancelEDocuments } from '../../documents/e-documents/commands.ts';
import { recordInvoice } from '../../invoices/invoices/announce.ts';
import { oweTakingTaxesBack } from '../../invoices/invoices/owe-taxes-back.ts';
import { listLinesOfInvoice } from '../../invoices/invoices/queries.ts';
import type { InvoiceVoid } from '../../invoices/invoices/schema.ts';
import { showInvoice } from '../../invoices/invoices/show-invoice.ts';
import { changeInvoice, lockVisibleInvoice } from '../../invoices/invoices/writes.ts';
import { bookVoid } from '../../ledger/ledger/invoice-voided.ts';
import { giveUpPayments } from '../../payments/payments/give-up-payments.ts';
import { takeBackWriteOffs } from '../../payments/write-offs/commands.ts';
import { markWallets } from '../../usage/wallet-marks/wallet-marks.ts';

/**
 * Annuls a final invoice, paid or not: it keeps its number and nothing is due any more. What paid for it is given back,
 * or covered by a credit note if the request wants one.
 *
 * @throws Refusal 404 invoice; 405 not_voidable; 422 credit_refund_amount, when more is asked back than is left of the
 *   invoice; 405 credit_note_voided, when a note that paid for it was voided since
 * Rules: invoice-operations.md#void, credit-notes.md#voided-invoices.
 */
export async function voidInvoice(ctx: Context, { svc_id, body }: { svc_id: string; body?: InvoiceVoid }) {
  const found = await lockVisibleInvoice(ctx, svc_id);
  if (!canInvoiceMove(found.status, 'voided')) throw refuse.notAllowed('not_voidable');
  const invoice = await takeBackWriteOffs(ctx, found, { withPayments: true });
  if (body?.generate_credit_note) {
    const asked = { creditCents: body.credit_amount ?? 0, refundCents: body.refund_amount ?? 0 };
    await makeNotesOfVoid(ctx, invoice, asked);
  } else {
    await giveBackToNotes(ctx, invoice);
    await recreditWallets(ctx, invoice);
  }
  const voided = await changeInvoice(ctx, invoice.id, {
    status: 'voided',
    voided_at: ctx.now(),
    voided_with_notes: body?.generate_credit_note === true,
    payment_overdue: false,
    ready_for_payment_processing: false,
  });
  if (!body?.generate_credit_note) await cancelEDocuments(ctx, invoice.id);
  await bookVoid(ctx, voided);
  oweTakingTaxesBack(ctx, voided);
  await giveUpPayments(ctx, invoice.id);
  await giveBackCoupons(ctx, invoice.id);
  if (invoice.invoice_type === 'credit') await failTopUp(ctx, invoice.id);
  await markWallets(ctx, invoice.customer_id);
  // What was invoiced counts towards thresholds over the lifetime (usage-reads.md#lifetime-usage).
  const lines = await listLinesOfInvoice(ctx, invoice.id);
  await markUsage(ctx, { ids: lines.map((line) => line.subscription_id) });
  await recordInvoice(ctx, 'invoice.voided', invoice.id);
  return showInvoice(ctx, invoice.id);
}
