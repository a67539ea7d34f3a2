import type { Context } from '../../../platform/context.ts';
import type { PaymentRequestId } from '../../../platform/ids.ts';
import { isOverNetwork } from '../../../platform/payments/providers.ts';
import { readCustomer } from '../../customers/customers/queries.ts';
import { findProviderById } from '../../customers/payment-providers/queries.ts';
import { postMail } from '../../messaging/mails/post-mail.ts';
import { dueOfRequest } from '../payment-requests/due-of-request.ts';
import { getRequest, type RequestRow } from '../payment-requests/queries.ts';
import { setRequestStatus } from '../payment-requests/set-request-status.ts';
import { openPaymentPage } from '../payments/provider-pages.ts';
import { startCharge } from '../payments/start-charge.ts';
import { lockPayables } from '../payments/writes.ts';
import { chooseMethod } from './choose-method.ts';

/**
 * Step `collect-payment-request`: charges the whole amount, or mails a link.
 * Rule: payment-requests.md#payment-requests.
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
    ? await chooseMethod(ctx, customer.id, [{ type: request.payment_method_type, id: request.payment_method_id }])
    : undefined;
  if (!method) return mailLink(ctx, request);
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

/** Mails that invoices are overdue, with a link to a payment page if the provider is a sandbox. */
export async function mailLink(ctx: Context, request: RequestRow): Promise<void> {
  const { db, organizationId } = ctx;
  const customer = await readCustomer(ctx, request.customer_id);
  const provider =
    customer.payment_provider_id === null ? undefined : await findProviderById(ctx, customer.payment_provider_id);
  const page =
    provider && !isOverNetwork(provider.provider_type)
      ? await openPaymentPage(ctx, customer.id, provider, {
          type: 'PaymentRequest',
          id: request.id,
          amountCents: request.amount_cents,
        })
      : undefined;
  const [campaign] = await db<{ bcc_emails: string[] }[]>`
    select bcc_emails from dunning_campaigns
    where organization_id = ${organizationId} and id = ${request.dunning_campaign_id}`;
  await postMail(ctx, {
    to: (request.email ?? '').split(',').filter((address) => address !== ''),
    bcc: campaign?.bcc_emails ?? [],
    subject: 'Your overdue balance',
    text: `Invoices of ${request.amount_currency} ${request.amount_cents} (smallest unit) are overdue.${page ? ` Pay them at ${page.url}` : ''}`,
  });
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
