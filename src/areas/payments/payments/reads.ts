import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { checkUuidFilter } from '../../../platform/lists/uuid-filter.ts';
import { getCustomer } from '../../customers/customers/queries.ts';
import { getPayment, listPayments } from './queries.ts';
import type { CustomerPaymentsQuery, PaymentsQuery } from './schema.ts';
import { paymentView } from './view.ts';

/** @throws Refusal 422 invoice_id is in invalid format */
export async function listPaymentsPage(ctx: Context, { query }: { query: PaymentsQuery }) {
  checkUuidFilter('invoice_id', query.invoice_id);
  const filters = {
    externalCustomerId: query.external_customer_id,
    invoiceId: query.invoice_id,
    paymentStatuses: query.payment_statuses,
    providerCodes: query.payment_provider_codes,
    createdFrom: query.created_from,
    createdTo: query.created_to,
  };
  const { rows, total } = await listPayments(ctx, filters, query);
  return { payments: rows.map(paymentView), meta: pageMeta(query, total) };
}

/** @throws Refusal 404 customer; 422 invoice_id is in invalid format */
export async function listPaymentsOfCustomer(
  ctx: Context,
  { external_id, query }: { external_id: string; query: CustomerPaymentsQuery },
) {
  const customer = await getCustomer(ctx, external_id);
  checkUuidFilter('invoice_id', query.invoice_id);
  const filters = { customerId: customer.id, invoiceId: query.invoice_id };
  const { rows, total } = await listPayments(ctx, filters, query);
  return { payments: rows.map(paymentView), meta: pageMeta(query, total) };
}

/** @throws Refusal 404 payment */
export async function showPayment(ctx: Context, { svc_id }: { svc_id: string }) {
  return { payment: paymentView(await getPayment(ctx, svc_id)) };
}
