import type { Context } from '../../../platform/context.ts';
import type { PaymentId } from '../../../platform/ids.ts';
import type { InvoiceRow } from '../../invoices/invoices/queries.ts';
import { changeInvoice } from '../../invoices/invoices/writes.ts';
import { bookWriteOffReversed, bookWrittenOff } from '../../ledger/ledger/written-off.ts';
import { insertWriteOff, reverseRounding } from './write-off-rows.ts';

/** Reason of a write-off of an amount below the provider's smallest step. */
const PROVIDER_ROUNDING = 'provider_rounding';

/**
 * Writes off the rest of a locked invoice that is smaller than one step of the provider's amounts. The write-off
 * belongs to the payment and is reversed only with it. Rule: payments.md#amounts-on-the-wire.
 */
export async function writeOffRounding(
  ctx: Context,
  invoice: InvoiceRow,
  paymentId: PaymentId,
  amountCents: number,
): Promise<void> {
  await insertWriteOff(ctx, invoice, { amountCents, reason: PROVIDER_ROUNDING, paymentId });
  await changeInvoice(ctx, invoice.id, {
    total_written_off_amount_cents: invoice.total_written_off_amount_cents + amountCents,
  });
  await bookWrittenOff(ctx, invoice, amountCents);
}

/**
 * Reverses the rounding write-off of a payment that was taken back. Rules: payments.md#amounts-on-the-wire,
 * ledger.md#l17.
 */
export async function takeBackRounding(ctx: Context, invoice: InvoiceRow, paymentId: PaymentId): Promise<InvoiceRow> {
  const amountCents = await reverseRounding(ctx, invoice.id, paymentId);
  if (amountCents === 0) return invoice;
  await bookWriteOffReversed(ctx, invoice, { amountCents, isMarkedPaid: false });
  return changeInvoice(ctx, invoice.id, {
    total_written_off_amount_cents: invoice.total_written_off_amount_cents - amountCents,
  });
}
