import type { Context } from '../../platform/context.ts';
import { newId } from '../../platform/ids.ts';
import type { InvoiceRow } from '../invoices/queries.ts';

/** Keeps what was given up of an invoice, and why. */
export const insertWriteOff = (ctx: Context, invoice: InvoiceRow, amountCents: number, reason: string) => ctx.db`
  insert into invoice_settlements (id, organization_id, invoice_id, settlement_type, amount_cents, amount_currency, reason,
    created_at)
  values (${newId()}, ${ctx.organizationId}, ${invoice.id}, 'write_off', ${amountCents}, ${invoice.currency}, ${reason},
    ${ctx.now()})`;

/** The write-offs of an invoice count no longer; they stay as records. */
export const reverseWriteOffs = (ctx: Context, invoiceId: string) => ctx.db`
  update invoice_settlements set reversed_at = ${ctx.now()}
  where organization_id = ${ctx.organizationId} and invoice_id = ${invoiceId} and settlement_type = 'write_off'
    and reversed_at is null`;
