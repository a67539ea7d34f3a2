import type { Context } from '../../../platform/context.ts';
import { isUuid } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { getCustomer } from '../../customers/customers/queries.ts';
import { getMethod } from '../../customers/payment-methods/queries.ts';
import { type InvoiceRow, listInvoicesByIds } from '../../invoices/invoices/queries.ts';
import { lockPayables } from '../payments/writes.ts';
import { makeRequest } from './make-request.ts';
import type { RequestCreate } from './schema.ts';
import { showRequest } from './show-request.ts';

/**
 * Asks a customer to pay several overdue invoices together.
 *
 * @throws Refusal 404 customer, invoice, payment_method; 405 in the order of the rule
 * Rule: payment-requests.md#payment-requests.
 */
export async function createRequest(ctx: Context, { body }: { body: RequestCreate }) {
  const customer = await getCustomer(ctx, body.external_customer_id);
  const ids = [...new Set(body.svc_invoice_ids.filter(isUuid))];
  await lockPayables(ctx, customer.id, ids);
  const invoices = (await listInvoicesByIds(ctx, ids)).filter(
    (invoice) => invoice.customer_id === customer.id && invoice.status !== 'deleted',
  );
  if (invoices.length === 0) throw refuse.notFound('invoice');
  await checkInvoices(ctx, invoices);
  const method = body.payment_method;
  if (method?.payment_method_id) await getMethod(ctx, customer.id, method.payment_method_id);
  const request = await makeRequest(ctx, customer, invoices, {
    email: body.email ?? customer.email,
    paymentMethodType: method?.payment_method_type ?? null,
    paymentMethodId: method?.payment_method_id ?? null,
  });
  return { payment_request: await showRequest(ctx, request) };
}

async function checkInvoices(ctx: Context, invoices: readonly InvoiceRow[]): Promise<void> {
  const differ = (key: 'currency' | 'billing_entity_id') => new Set(invoices.map((invoice) => invoice[key])).size > 1;
  if (invoices.some((invoice) => !invoice.payment_overdue)) throw refuse.notAllowed('invoices_not_overdue');
  if (differ('currency')) throw refuse.notAllowed('invoices_have_different_currencies');
  if (differ('billing_entity_id')) throw refuse.notAllowed('invoices_have_different_billing_entities');
  const [unready] = await ctx.db`
    select from invoices where organization_id = ${ctx.organizationId}
      and id = any (${invoices.map(({ id }) => id)}) and not ready_for_payment_processing limit 1`;
  if (unready) throw refuse.notAllowed('invoices_not_ready_for_payment_processing');
}
