import type { PaymentStatus } from '../../engine/invoices/invoice-states.ts';
import type { Context } from '../../platform/context.ts';
import type { InvoiceRow } from '../invoices/queries.ts';

/** Closes the hosted pages of an invoice that was paid. Rule: credits-and-payments E.6. */
export async function closePagesOfInvoice(ctx: Context, invoice: InvoiceRow, status: PaymentStatus): Promise<void> {
  if (status !== 'succeeded') return;
  await ctx.db`
    update payment_pages set closed_at = ${ctx.now()}
    where organization_id = ${ctx.organizationId} and payable_id = ${invoice.id} and closed_at is null`;
}
