import type { Scope } from '../../../platform/db/scope.ts';
import { present, seconds } from '../../../platform/schema/view.ts';
import { listCustomersByIds } from '../../customers/customers/queries.ts';
import { customerBaseView } from '../../customers/customers/view.ts';
import { listInvoicesByIds } from '../../invoices/invoices/queries.ts';
import { invoiceBaseView } from '../../invoices/invoices/view.ts';
import type { RequestRow } from './queries.ts';

/**
 * Payment requests as the API shows them: two statements, whatever their number.
 * Rule: payment-requests.md#payment-requests.
 */
export async function showRequests(ctx: Scope, rows: readonly RequestRow[]) {
  const [customers, invoices] = await Promise.all([
    listCustomersByIds(ctx, [...new Set(rows.map(({ customer_id }) => customer_id))]),
    listInvoicesByIds(ctx, [...new Set(rows.flatMap(({ invoice_ids }) => invoice_ids))]),
  ]);
  const customerOf = new Map(customers.map((customer) => [customer.id, customer]));
  const invoiceOf = new Map(invoices.map((invoice) => [invoice.id, invoice]));
  return rows.map((row) => ({
    svc_id: row.id,
    email: row.email,
    amount_cents: row.amount_cents,
    amount_currency: row.amount_currency,
    payment_status: row.payment_status,
    ...present({ dunning_campaign_code: row.dunning_campaign_code }),
    created_at: seconds(row.created_at),
    customer: customerBaseView(customerOf.get(row.customer_id)!),
    invoices: row.invoice_ids.map((id) => invoiceBaseView(invoiceOf.get(id)!)),
  }));
}

/** One payment request as the API shows it. */
export const showRequest = async (ctx: Scope, row: RequestRow) => (await showRequests(ctx, [row]))[0]!;
