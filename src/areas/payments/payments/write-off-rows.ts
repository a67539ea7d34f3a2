import type { Context } from '../../../platform/context.ts';
import type { InvoiceId, PaymentId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import type { InvoiceRow } from '../../invoices/invoices/queries.ts';

/** Stores a write-off of an invoice with its reason. */
export const insertWriteOff = (
  ctx: Context,
  invoice: InvoiceRow,
  { amountCents, reason, paymentId = null }: { amountCents: number; reason: string; paymentId?: PaymentId | null },
) => ctx.db`
  insert into invoice_settlements (id, organization_id, invoice_id, settlement_type, amount_cents, amount_currency,
    reason,
    payment_id, created_at)
  values (${newId()}, ${ctx.organizationId}, ${invoice.id}, 'write_off', ${amountCents}, ${invoice.currency}, ${reason},
    ${paymentId}, ${ctx.now()})`;

/**
 * Reverses the write-offs of an invoice; the rows stay as records. Those that belong to a payment are reversed with it.
 *
 * withPayments reverses those too, because the invoice is voided
 *
 * @returns their sum
 */
export async function reverseWriteOffs(ctx: Context, invoiceId: InvoiceId, withPayments: boolean): Promise<number> {
  const reversed = await ctx.db<{ amount_cents: number }[]>`
    update invoice_settlements set reversed_at = ${ctx.now()}
    where organization_id = ${ctx.organizationId} and invoice_id = ${invoiceId} and settlement_type = 'write_off'
      and reversed_at is null and (${withPayments} or payment_id is null)
    returning amount_cents`;
  return sumOf(reversed);
}

/** Reverses the write-off that belongs to a payment. @returns its amount */
export async function reverseRounding(ctx: Context, invoiceId: InvoiceId, paymentId: PaymentId): Promise<number> {
  const reversed = await ctx.db<{ amount_cents: number }[]>`
    update invoice_settlements set reversed_at = ${ctx.now()}
    where organization_id = ${ctx.organizationId} and invoice_id = ${invoiceId} and settlement_type = 'write_off'
      and reversed_at is null and payment_id = ${paymentId}
    returning amount_cents`;
  return sumOf(reversed);
}

const sumOf = (rows: readonly { amount_cents: number }[]): number =>
  rows.reduce((total, row) => total + row.amount_cents, 0);
