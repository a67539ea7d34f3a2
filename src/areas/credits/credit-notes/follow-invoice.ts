import { localDate } from '../../../engine/calendar/local-day.ts';
import { alignedTotal } from '../../../engine/credits/credit-note-amounts.ts';
import { cents } from '../../../engine/money/cents.ts';
import { Decimal, ZERO } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import { type InvoiceRow, readInvoice } from '../../invoices/invoices/queries.ts';
import { readCreditedInvoice } from './credited-invoice.ts';
import { finishNote } from './finish-note.ts';
import { amountsOf, zoneOf } from './make-note.ts';
import { noteNumber } from './note-number.ts';
import { type CreditNoteRow, listDraftNotes } from './queries.ts';
import { changeCreditNote, deleteDraftNotes, listMovedItems, type NewItem, rewriteNote } from './writes.ts';

const ITEM_DIGITS = 5;

/**
 * Lets the draft notes of an invoice follow its new computation: each item gives back the same share of the fee that
 * now bills what its fee billed, all of it as credit. With a final invoice they become final; with one that is gone
 * they go.
 *
 * Rules: credit-note-amounts.md#automatic-notes "draft notes", termination.md#credit-for-unused-days,
 * invoice-operations.md#refresh-and-finalize.
 */
export async function followInvoice(ctx: Context, invoiceId: InvoiceId): Promise<void> {
  const notes = await listDraftNotes(ctx, invoiceId);
  if (notes.length === 0) return;
  const invoice = await readInvoice(ctx, invoiceId);
  if (invoice.status === 'closed') return deleteDraftNotes(ctx, { invoice_id: invoiceId });
  for (const note of notes) {
    const totalCents = await computeAnew(ctx, invoice, note);
    if (invoice.status === 'finalized') await finalize(ctx, invoice, note, totalCents);
  }
}

async function computeAnew(ctx: Context, invoice: InvoiceRow, note: CreditNoteRow): Promise<number> {
  const credited = await readCreditedInvoice(ctx, invoice, note.id);
  const moved = await listMovedItems(ctx, note.id, invoice.id);
  const items = moved.map((item): NewItem => {
    const fee = credited.fees.find(({ id }) => id === item.fee_id)!;
    const share =
      item.fee_amount_cents === 0 ? ZERO : item.precise_amount_cents.times(fee.amount_cents).div(item.fee_amount_cents);
    const { given_for_fee_ids: feeIds, given_part_cents: partCents } = item;
    const givenFor = feeIds === null || partCents === null ? undefined : { feeIds, partCents };
    return { fee, preciseAmountCents: share.toDecimalPlaces(ITEM_DIGITS, Decimal.ROUND_HALF_UP), givenFor };
  });
  const amounts = amountsOf(credited, items);
  const creditCents = alignedTotal(amounts);
  await rewriteNote(ctx, note, {
    items,
    amounts,
    parts: { creditCents, refundCents: cents(0), offsetCents: cents(0) },
  });
  return creditCents;
}

/** A note whose amount became zero is not announced. */
async function finalize(ctx: Context, invoice: InvoiceRow, note: CreditNoteRow, totalCents: number): Promise<void> {
  if (totalCents === 0) {
    await changeCreditNote(ctx, note.id, { status: 'deleted' });
    return;
  }
  await changeCreditNote(ctx, note.id, {
    status: 'finalized',
    number: noteNumber(invoice.number, note.sequential_id),
    issuing_date: localDate(ctx.now(), await zoneOf(ctx, invoice.customer_id)),
  });
  await finishNote(ctx, note.id, false);
}
