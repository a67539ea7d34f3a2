import type { Context } from '../../../platform/context.ts';
import type { CreditNoteId } from '../../../platform/ids.ts';
import { announce } from '../../../platform/reactions.ts';
import { invoiceDueChanged } from '../../invoices/announcements.ts';
import { dueOf } from '../../invoices/invoices/amount-due.ts';
import { maybeRecorded } from '../../invoices/invoices/owe-taxes-back.ts';
import { setPaymentStatus } from '../../invoices/invoices/payment-status.ts';
import { readInvoice } from '../../invoices/invoices/queries.ts';
import { bookNoteCreated } from '../../ledger/ledger/credit-notes.ts';
import { recordCreditNoteCreated } from './announce.ts';
import { readCreditNote } from './queries.ts';
import { oweRefund } from './refunds.ts';
import { finishTopUpNote, settleUnpaidTopUp } from './top-up-note.ts';
import { insertSettlement } from './writes.ts';

/**
 * What follows when a note becomes final: it is booked and announced, its refund is owed, and the offset
 * part settles its invoice. Rules: credit-notes.md#refunds, credit-notes.md#other-effects, ledger.md#l11,
 * ledger.md#l12, ledger.md#l13.
 */
export async function finishNote(ctx: Context, id: CreditNoteId, isOfVoided: boolean): Promise<void> {
  const note = await readCreditNote(ctx, id);
  const noted = await readInvoice(ctx, note.invoice_id);
  const { invoice_type: invoiceType } = noted;
  if (invoiceType === 'credit') await finishTopUpNote(ctx, note);
  else await bookNoteCreated(ctx, note, isOfVoided);
  await recordCreditNoteCreated(ctx, id);
  if (maybeRecorded(noted)) ctx.after({ step: 'report-note-taxes', payload: { credit_note_id: id } });
  await oweRefund(ctx, note, noted);
  if (note.offset_amount_cents === 0) return;
  await insertSettlement(ctx, note);
  await ctx.db`
    update invoices
    set total_offsetted_credit_note_amount_cents = total_offsetted_credit_note_amount_cents + ${note.offset_amount_cents},
      updated_at = ${ctx.now()}
    where organization_id = ${ctx.organizationId} and id = ${note.invoice_id}`;
  await announce(ctx, invoiceDueChanged, { invoice_id: note.invoice_id });
  const invoice = await readInvoice(ctx, note.invoice_id);
  if (dueOf(invoice) > 0) return;
  if (invoiceType === 'credit') await settleUnpaidTopUp(ctx, invoice);
  else await setPaymentStatus(ctx, invoice, 'succeeded');
}
