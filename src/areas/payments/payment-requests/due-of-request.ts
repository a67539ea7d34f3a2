import type { Context } from '../../../platform/context.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import { dueOf } from '../../invoices/invoices/amount-due.ts';
import { listInvoicesByIds } from '../../invoices/invoices/queries.ts';

/**
 * What the invoices of a request still owe together: less than its amount once some were paid or credited otherwise.
 * Rule: payment-requests.md#the-page-of-a-request.
 */
export async function dueOfRequest(ctx: Context, request: { invoice_ids: readonly InvoiceId[] }): Promise<number> {
  const invoices = await listInvoicesByIds(ctx, request.invoice_ids);
  return invoices
    .filter(({ payment_status }) => payment_status !== 'succeeded')
    .reduce((total, invoice) => total + Math.max(dueOf(invoice), 0), 0);
}
