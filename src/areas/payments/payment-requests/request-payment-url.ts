import type { Context } from '../../../platform/context.ts';
import { payablePage } from '../payments/payment-url.ts';
import { awaitPage } from '../payments/provider-pages.ts';
import { lockPayables } from '../payments/writes.ts';
import { dueOfRequest } from './due-of-request.ts';
import { getRequest } from './queries.ts';

/**
 * Link to a page where the invoices of a payment request are paid together; the same link for 24 hours, as long as
 * their due amount stays.
 *
 * @throws Refusal 404 payment_request; 422 base as of an invoice's page; 422 currency unsupported_value;
 *   422 provider_error; 401; 429
 * Rule: payment-requests.md#the-page-of-a-request.
 */
export async function makeRequestUrl(ctx: Context, { svc_id }: { svc_id: string }) {
  const found = await getRequest(ctx, svc_id);
  await lockPayables(ctx, found.customer_id, found.invoice_ids);
  const request = await getRequest(ctx, found.id);
  const { customer, url } = await payablePage(ctx, request.customer_id, {
    type: 'PaymentRequest',
    id: request.id,
    amountCents: await dueOfRequest(ctx, request),
    currency: request.amount_currency,
    invoiceIds: request.invoice_ids,
  });
  return {
    payment_request_payment_details: {
      svc_payment_request_id: request.id,
      payment_provider: customer.payment_provider,
      payment_url: url,
    },
  };
}

/** The answer with the address that the provider gave. @throws Refusal 422 provider_error; 401; 429 */
export async function showRequestUrl(ctx: Context, body: Awaited<ReturnType<typeof makeRequestUrl>>) {
  const details = body.payment_request_payment_details;
  return {
    payment_request_payment_details: { ...details, payment_url: await awaitPage(ctx, details.payment_url) },
  };
}
