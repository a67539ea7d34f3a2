import type { Context } from '../../../platform/context.ts';
import { newId } from '../../../platform/ids.ts';
import { isOverNetwork } from '../../../platform/payments/providers.ts';
import { sandboxMethodOf } from '../../../platform/payments/sandbox/behaviour.ts';
import { wordOf } from '../../../platform/payments/status-words.ts';
import { refuse } from '../../../platform/refusal.ts';
import { readCustomer } from '../../customers/customers/queries.ts';
import { findMethod } from '../../customers/payment-methods/queries.ts';
import { storeMethod } from '../../customers/payment-methods/writes.ts';
import { contractName, findProviderById } from '../../customers/payment-providers/queries.ts';
import { dueOf } from '../../invoices/invoices/amount-due.ts';
import { listInvoicesByIds } from '../../invoices/invoices/queries.ts';
import { oweUncharged } from '../../payments/collect-payments/import-methods.ts';
import { storeInboundEvent } from '../../payments/inbound-events/store-inbound-event.ts';
import { getRequest } from '../../payments/payment-requests/queries.ts';
import type { PageRow } from '../../payments/payments/provider-pages.ts';
import { getPaymentAtProvider } from '../../payments/payments/queries.ts';
import { startCharge } from '../../payments/payments/start-charge.ts';
import { lockPayables } from '../../payments/payments/writes.ts';
import type { CheckoutFinish, Confirmation } from './schema.ts';

/**
 * Ends the confirmation that a test card requires: the connection reports the outcome the way a provider would.
 *
 * @throws Refusal 404 payment; 405 invalid_status, unless the payment waits for its customer at a sandbox
 * Rule: provider-connections.md#sandbox-provider.
 */
export async function confirmPayment(ctx: Context, { svc_id, body }: { svc_id: string; body: Confirmation }) {
  const payment = await getPaymentAtProvider(ctx, svc_id);
  const provider =
    payment.payment_provider_id === null ? undefined : await findProviderById(ctx, payment.payment_provider_id);
  const isWaiting = payment.payment_status === 'processing' && Object.keys(payment.next_action).length > 0;
  if (!provider || isOverNetwork(provider.provider_type) || !isWaiting) throw refuse.notAllowed('invalid_status');
  const type = body.outcome === 'succeeded' ? 'payment_intent.succeeded' : 'payment_intent.payment_failed';
  await storeInboundEvent(ctx, {
    connectionId: provider.id,
    providerEventId: `evt_${payment.id}_confirmed`,
    type,
    payload: {
      type,
      provider_payment_id: payment.provider_payment_id,
      status: wordOf(contractName(provider), body.outcome),
      ...(body.outcome === 'failed'
        ? { error: { code: 'authentication_failed', message: 'The customer did not confirm the payment.' } }
        : {}),
    },
  });
  return { confirmation: { svc_payment_id: payment.id, outcome: body.outcome } };
}

/**
 * Finishes a hosted page of a sandbox as a customer would: the card is stored, and the amount of the page is paid.
 *
 * @throws Refusal 404 checkout; 422 card_number value_is_invalid
 * Rule: provider-connections.md#sandbox-provider.
 */
export async function finishCheckout(ctx: Context, { token, body }: { token: string; body: CheckoutFinish }) {
  const { db, organizationId } = ctx;
  const [page] = await db<PageRow[]>`
    select id, customer_id, payment_provider_id, payable_type, payable_id, amount_cents from payment_pages
    where organization_id = ${organizationId} and token = ${token} and closed_at is null and expires_at > ${ctx.now()}
    for update`;
  if (!page) throw refuse.notFound('checkout');
  const method = sandboxMethodOf(body);
  if (!method) throw refuse.invalid({ card_number: ['value_is_invalid'] });
  await lockPayables(ctx, page.customer_id, page.payable_id === null ? [] : [page.payable_id]);
  const customer = await readCustomer(ctx, page.customer_id);
  const id = await storeMethod(ctx, {
    customerId: customer.id,
    providerId: page.payment_provider_id,
    providerCustomerId: customer.provider_customer_id ?? customer.id,
    providerMethodId: `pm_sandbox_${newId()}`,
    type: method.type,
    details: { last4: method.last4, behaviour: method.behaviour },
    isDefault: true,
    now: ctx.now(),
  });
  await db`
    update payment_pages set closed_at = ${ctx.now()} where organization_id = ${organizationId} and id = ${page.id}`;
  if (page.payable_type === 'Invoice') {
    const [invoice] = await listInvoicesByIds(ctx, [page.payable_id!]);
    if (invoice && dueOf(invoice) > 0)
      await startCharge(ctx, {
        customerId: customer.id,
        payable: { type: 'Invoice', id: invoice.id },
        amountCents: dueOf(invoice),
        currency: invoice.currency,
        method: (await findMethod(ctx, customer.id, id))!,
        invoiceIds: [invoice.id],
      });
  }
  if (page.payable_type === 'PaymentRequest') await chargeRequest(ctx, page, id);
  if (page.payable_type === null) await oweUncharged(ctx, customer.id);
  return { checkout: { svc_payment_method_id: id } };
}

async function chargeRequest(ctx: Context, page: PageRow, methodId: string): Promise<void> {
  const request = await getRequest(ctx, page.payable_id!);
  await lockPayables(ctx, page.customer_id, request.invoice_ids);
  if (request.payment_status === 'succeeded') return;
  await startCharge(ctx, {
    customerId: page.customer_id,
    payable: { type: 'PaymentRequest', id: request.id },
    amountCents: page.amount_cents!,
    currency: request.amount_currency,
    method: (await findMethod(ctx, page.customer_id, methodId))!,
    invoiceIds: request.invoice_ids,
  });
}
