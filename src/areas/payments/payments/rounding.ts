import type { Context } from '../../../platform/context.ts';
import type { InvoiceRow } from '../../invoices/invoices/queries.ts';
import { changeInvoice } from '../../invoices/invoices/writes.ts';
import { bookWriteOffReversed, bookWrittenOff } from '../../ledger/ledger/written-off.ts';
import { insertWriteOff, reverseRounding } from './write-off-rows.ts';

/** Reason of a write-off that the step of a provider's amounts made. */
const PROVIDER_ROUNDING = 'provider_rounding';

/**
 * Gives up what a provider cannot take of a locked invoice: less than one step of its amounts. It belongs to the
 * payment: only taking that back takes it back. Rule: payments.md#amounts-on-the-wire.
 */
export async function writeOffRounding(
  ctx: Context,
  invoice: InvoiceRow,
  paymentId: string,
  amountCents: number,
): Promise<void> {
  await insertWriteOff(ctx, invoice, amountCents, PROVIDER_ROUNDING, paymentId);
  await changeInvoice(ctx, invoice.id, {
    total_written_off_amount_cents: invoice.total_written_off_amount_cents + amountCents,
  });
  await bookWrittenOff(ctx, invoice, amountCents);
}

/**
 * Undoes what was given up of an invoice with a payment that was taken back. Rules: payments.md#amounts-on-the-wire,
 * ledger.md#l17.
 */
export async function takeBackRounding(ctx: Context, invoice: InvoiceRow, paymentId: string): Promise<InvoiceRow> {
  const amountCents = await reverseRounding(ctx, invoice.id, paymentId);
  if (amountCents === 0) return invoice;
  await bookWriteOffReversed(ctx, invoice, { amountCents, isMarkedPaid: false });
  return changeInvoice(ctx, invoice.id, {
    total_written_off_amount_cents: invoice.total_written_off_amount_cents - amountCents,
  });
}
