import type { Context } from '../../../platform/context.ts';
import { type Page, pageMeta } from '../../../platform/lists/pagination.ts';
import type { Operation } from '../../../platform/operation.ts';
import { checkBillingEntityCodes } from '../../customers/billing-entities/queries.ts';
import { getCustomer } from '../../customers/customers/queries.ts';
import { createRequest } from './commands.ts';
import { getRequest, listRequests, type RequestFilters } from './queries.ts';
import { makeRequestUrl, showRequestUrl } from './request-payment-url.ts';
import {
  CustomerRequestsQuery,
  RequestCreate,
  RequestEnvelope,
  RequestList,
  RequestsQuery,
  RequestUrlEnvelope,
} from './schema.ts';
import { showRequest, showRequests } from './show-request.ts';

const common = { permission: 'payment_request', tag: 'payment_requests' } as const;

/** @throws Refusal 404 billing_entity, of a filter that names none */
async function page(ctx: Context, filters: RequestFilters, query: Page) {
  await checkBillingEntityCodes(ctx, filters.billingEntityCodes ?? []);
  const { rows, total } = await listRequests(ctx, filters, query);
  return { payment_requests: await showRequests(ctx, rows), meta: pageMeta(query, total) };
}

const filtersOf = (query: CustomerRequestsQuery): RequestFilters => ({
  paymentStatus: query.payment_status,
  currency: query.currency,
  billingEntityCodes: query.billing_entity_codes,
});

const listAll = (ctx: Context, { query }: { query: RequestsQuery }) =>
  page(ctx, { ...filtersOf(query), externalCustomerId: query.external_customer_id }, query);

/** @throws Refusal 404 customer */
async function listOfCustomer(ctx: Context, input: { external_id: string; query: CustomerRequestsQuery }) {
  const customer = await getCustomer(ctx, input.external_id);
  return page(ctx, { ...filtersOf(input.query), customerId: customer.id }, input.query);
}

/** @throws Refusal 404 payment_request */
const show = async (ctx: Context, { svc_id }: { svc_id: string }) => ({
  payment_request: await showRequest(ctx, await getRequest(ctx, svc_id)),
});

export const paymentRequestOperations: Operation[] = [
  {
    ...common,
    name: 'createPaymentRequest',
    method: 'post',
    path: '/payment_requests',
    summary: 'Ask for the payment of overdue invoices',
    description:
      'One request for several overdue invoices of one currency and billing entity, which are paid together.',
    root: 'payment_request',
    body: RequestCreate,
    answer: RequestEnvelope,
    kind: 'command',
    run: createRequest,
  },
  {
    ...common,
    name: 'findAllPaymentRequests',
    method: 'get',
    path: '/payment_requests',
    summary: 'List all payment requests',
    query: RequestsQuery,
    answer: RequestList,
    kind: 'read',
    run: listAll,
  },
  {
    ...common,
    name: 'findPaymentRequest',
    method: 'get',
    path: '/payment_requests/:svc_id',
    summary: 'Retrieve a payment request',
    answer: RequestEnvelope,
    kind: 'read',
    run: show,
  },
  {
    ...common,
    name: 'paymentRequestPaymentUrl',
    method: 'post',
    path: '/payment_requests/:svc_id/payment_url',
    summary: 'Get a link where the invoices of a payment request are paid',
    answer: RequestUrlEnvelope,
    kind: 'command',
    run: makeRequestUrl,
    settle: showRequestUrl,
  },
  {
    ...common,
    name: 'findAllCustomerPaymentRequests',
    method: 'get',
    path: '/customers/:external_id/payment_requests',
    summary: 'List the payment requests of a customer',
    query: CustomerRequestsQuery,
    answer: RequestList,
    kind: 'read',
    run: listOfCustomer,
  },
];
