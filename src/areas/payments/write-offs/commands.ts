import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { dueOf } from '../../invoices/invoices/amount-due.ts';
import { recordInvoice } from '../../invoices/invoices/announce.ts';
import { setPaymentStatus } from '../../invoices/invoices/payment-status.ts';
import { type InvoiceRow, readInvoice } from '../../invoices/invoices/queries.ts';
import { partsOf } from '../../invoices/invoices/show-invoice.ts';
import { invoiceView } from '../../invoices/invoices/view.ts';
import { changeInvoice, lockVisibleInvoice } from '../../invoices/invoices/writes.ts';
import { bookWriteOffReversed, bookWrittenOff, isMarkedPaid } from '../../ledger/ledger/written-off.ts';
import { giveUpPayments } from '../payments/give-up-payments.ts';
import { closePages } from '../payments/provider-pages.ts';
import { insertWriteOff, reverseWriteOffs } from '../payments/write-off-rows.ts';
import type { WriteOffCreate } from './schema.ts';

/**
 * Writes off the due amount of an invoice, or a part of it. The payment status stays, because it was not paid. With
 * nothing left due the invoice is no longer overdue and its payments in progress end; money that arrives later is
 * unapplied until the write-off is reversed.
 *
 * @throws Refusal 404 invoice; 405 invalid_status, unless it is finalized and something is due; 422 amount_cents, above
 *   what is due
 * Rules: ledger.md#l21, ledger.md#write-off.
 */
export async function writeOffInvoice(ctx: Context, { svc_id, body }: { svc_id: string; body: WriteOffCreate }) {
  const invoice = await lockVisibleInvoice(ctx, svc_id);
  const due = dueOf(invoice);
  if (invoice.status !== 'finalized' || due <= 0) throw refuse.notAllowed('invalid_status');
  const amountCents = body.amount_cents ?? due;
  if (amountCents > due) throw refuse.invalid({ amount_cents: ['value_is_out_of_range'] });
  await insertWriteOff(ctx, invoice, { amountCents, reason: body.reason });
  const isWhole = amountCents === due;
  await changeInvoice(ctx, invoice.id, {
    total_written_off_amount_cents: invoice.total_written_off_amount_cents + amountCents,
    ...(isWhole ? { payment_overdue: false } : {}),
  });
  // Open pages still show the former amount.
  await (isWhole ? giveUpPayments : closePages)(ctx, invoice.id);
  await bookWrittenOff(ctx, invoice, amountCents);
  await recordInvoice(ctx, 'invoice.written_off', invoice.id);
  return answer(ctx, invoice.id);
}

/**
 * Reverses all write-offs of an invoice: the unpaid amount is due again, also if the rest was paid since.
 *
 * @throws Refusal 404 invoice; 405 invalid_status, when nothing of it is written off
 * Rule: ledger.md#write-off.
 */
export async function reverseWriteOff(ctx: Context, { svc_id }: { svc_id: string }) {
  const invoice = await lockVisibleInvoice(ctx, svc_id);
  const back = await takeBackWriteOffs(ctx, invoice, { withPayments: false });
  if (back === invoice) throw refuse.notAllowed('invalid_status');
  // The invoice was paid except for the write-off, so it is due again.
  if (back.payment_status === 'succeeded' && dueOf(back) > 0 && !(await isMarkedPaid(ctx, back.id)))
    await setPaymentStatus(ctx, back, 'pending');
  await recordInvoice(ctx, 'invoice.write_off_reversed', invoice.id);
  return answer(ctx, invoice.id);
}

/**
 * Reverses the write-offs of a locked invoice, if there are any; voids call it too, so that the books stay balanced.
 *
 * withPayments also the rounding write-offs of payments, which otherwise stay as long as the payment
 *
 * @returns the same invoice if there were none
 */
export async function takeBackWriteOffs(
  ctx: Context,
  invoice: InvoiceRow,
  { withPayments }: { withPayments: boolean },
): Promise<InvoiceRow> {
  const amountCents =
    invoice.total_written_off_amount_cents === 0 ? 0 : await reverseWriteOffs(ctx, invoice.id, withPayments);
  if (amountCents === 0) return invoice;
  const isMarked = invoice.payment_status === 'succeeded' && (await isMarkedPaid(ctx, invoice.id));
  await bookWriteOffReversed(ctx, invoice, { amountCents, isMarkedPaid: isMarked });
  return changeInvoice(ctx, invoice.id, {
    total_written_off_amount_cents: invoice.total_written_off_amount_cents - amountCents,
    // Its payments in progress were ended when nothing was due.
    ...(dueOf(invoice) <= 0 ? { ready_for_payment_processing: true } : {}),
  });
}

async function answer(ctx: Context, id: string) {
  const invoice = await readInvoice(ctx, id);
  return { invoice: invoiceView(await partsOf(ctx, invoice), ctx.now()) };
}
