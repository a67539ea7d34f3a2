import { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import type { PaymentRequestId } from '../../../platform/ids.ts';
import { readCustomer } from '../../customers/customers/queries.ts';
import { dueOfRequest } from '../payment-requests/due-of-request.ts';
import { COLLECT_REQUEST_STEP } from '../payment-requests/make-request.ts';
import { getRequest, type RequestRow } from '../payment-requests/queries.ts';
import { setRequestStatus } from '../payment-requests/set-request-status.ts';
import { isPaymentUnderWay } from '../payments/queries.ts';
import { startCharge } from '../payments/start-charge.ts';
import { lockPayables } from '../payments/writes.ts';
import { chooseMethod } from './choose-method.ts';
import { closePagesFirst, PAGE_PAYMENT_MINUTES } from './close-pages-first.ts';
import { endTransfersOf } from './renew-transfers.ts';
import { mailRequest } from './request-mail.ts';

/** How often a request looks whether a payment of one of its invoices has ended. */
const UNDER_WAY_MINUTES = 60;
/** How long it does: bank debits take 8 days. Another request follows by hand, or by dunning. */
const UNDER_WAY_DAYS = 14;

/**
 * Step `collect-payment-request`: charges the whole amount, or mails a link; later, while one of its invoices may be
 * paid by another payment or on a page.
 * Rules: payment-requests.md#payment-requests, payments.md#payments-on-pages-come-first.
 */
export async function collectRequest(
  ctx: Context,
  { payment_request_id: id }: { payment_request_id: PaymentRequestId },
): Promise<void> {
  const found = await getRequest(ctx, id);
  await lockPayables(ctx, found.customer_id, found.invoice_ids);
  const request = await getRequest(ctx, id);
  if (request.payment_status === 'succeeded') return;
  const amountCents = Math.min(request.amount_cents, await dueOfRequest(ctx, request));
  if (amountCents <= 0) return setRequestStatus(ctx, request, 'succeeded');
  const customer = await readCustomer(ctx, request.customer_id);
  const isLinked = customer.payment_provider_id !== null && customer.provider_customer_id !== null;
  const method = isLinked
    ? await chooseMethod(ctx, customer, [{ type: request.payment_method_type, id: request.payment_method_id }])
    : undefined;
  if (!method) return mailRequest(ctx, request);
  const minutes = await minutesToWait(ctx, request);
  if (minutes === 'too long') return;
  if (minutes > 0)
    return ctx.after({
      step: COLLECT_REQUEST_STEP,
      payload: { payment_request_id: id },
      dueAt: ctx.now().add({ minutes }),
    });
  // What each invoice, or an earlier request, asks for is asked for together, once nothing else may pay it.
  await endTransfersOf(ctx, request.invoice_ids, { before: id });
  const isStarted = await startCharge(ctx, {
    customerId: customer.id,
    payable: { type: 'PaymentRequest', id: request.id },
    amountCents,
    currency: request.amount_currency,
    method,
    invoiceIds: request.invoice_ids,
  });
  if (isStarted) await noteAttempt(ctx, request);
}

/** For how many minutes the charge of a request has to wait, because another one could be the second. */
async function minutesToWait(ctx: Context, request: RequestRow): Promise<number | 'too long'> {
  if (await isPaymentUnderWay(ctx, request.invoice_ids, { besides: request.id, replacing: request.id })) {
    const until = request.created_at.add({ hours: UNDER_WAY_DAYS * 24 });
    return Temporal.Instant.compare(ctx.now(), until) < 0 ? UNDER_WAY_MINUTES : 'too long';
  }
  return (await closePagesFirst(ctx, request.invoice_ids)) ? PAGE_PAYMENT_MINUTES : 0;
}

async function noteAttempt(ctx: Context, request: RequestRow): Promise<void> {
  await ctx.db`
    update payment_requests set payment_attempts = payment_attempts + 1, ready_for_payment_processing = false,
      updated_at = ${ctx.now()}
    where organization_id = ${ctx.organizationId} and id = ${request.id}`;
  await ctx.db`
    update invoices set ready_for_payment_processing = false, updated_at = ${ctx.now()}
    where organization_id = ${ctx.organizationId} and id = any (${request.invoice_ids})
      and payment_status <> 'succeeded'`;
}
