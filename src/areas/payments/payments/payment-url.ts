import { toWire } from '../../../engine/money/wire.ts';
import type { Context } from '../../../platform/context.ts';
import type { CustomerId, InvoiceId } from '../../../platform/ids.ts';
import { can, nameCan, wireOf } from '../../../platform/payments/providers.ts';
import { refuse } from '../../../platform/refusal.ts';
import { readCustomer } from '../../customers/customers/queries.ts';
import { findProviderById } from '../../customers/payment-providers/queries.ts';
import { dueOf } from '../../invoices/invoices/amount-due.ts';
import { getVisibleInvoice, type InvoiceRow, readInvoice } from '../../invoices/invoices/queries.ts';
import type { Payable } from '../../messaging/mails/pay-link.ts';
import { awaitPage, openPaymentPage } from './provider-pages.ts';
import { isPaymentUnderWay } from './queries.ts';
import { isTakenOnPage } from './ways-to-pay.ts';
import { lockPayables } from './writes.ts';

const no = (code: string) => refuse.invalid({ base: [code] });

/**
 * Link to a page where the due amount of an invoice is paid; the same link for 24 hours.
 *
 * @throws Refusal 404 invoice; 422 base in the order of the rule; 422 currency unsupported_value; 422 provider_error;
 *   401; 429
 * Rules: payments.md#payment-url, payments.md#amounts-on-the-wire "not supported".
 */
export async function makePaymentUrl(ctx: Context, { svc_id }: { svc_id: string }) {
  const invoice = await getVisibleInvoice(ctx, svc_id);
  const { customer, url } = await invoicePage(ctx, invoice);
  return {
    invoice_payment_details: {
      svc_customer_id: customer.id,
      external_customer_id: customer.external_id,
      payment_provider: customer.payment_provider,
      svc_invoice_id: invoice.id,
      payment_url: url,
    },
  };
}

/**
 * The customer of an invoice and the address of its payment page, or the page's id while the provider has not given the
 * address (see `awaitPage`). Refusals: see `makePaymentUrl`.
 */
export async function invoicePage(ctx: Context, { id, customer_id }: Pick<InvoiceRow, 'id' | 'customer_id'>) {
  await lockPayables(ctx, customer_id, [id]);
  const invoice = await readInvoice(ctx, id);
  const isOpen = invoice.payment_status !== 'succeeded' && invoice.status !== 'draft';
  return payablePage(ctx, customer_id, {
    type: 'Invoice',
    id,
    amountCents: isOpen ? dueOf(invoice) : 0,
    currency: invoice.currency,
    invoiceIds: [id],
  });
}

/**
 * The customer of a payable that the transaction holds locked, and the address or id of the page where `amountCents`
 * are paid. Refusals: see `makePaymentUrl`.
 */
export async function payablePage(
  ctx: Context,
  customerId: CustomerId,
  payable: Payable & { amountCents: number; currency: string; invoiceIds: readonly InvoiceId[] },
) {
  const customer = await readCustomer(ctx, customerId);
  if (customer.payment_provider === null) throw no('no_linked_payment_provider');
  const provider =
    customer.payment_provider_id === null ? undefined : await findProviderById(ctx, customer.payment_provider_id);
  const hasPages = provider ? can(provider, 'payment_page') : nameCan(customer.payment_provider, 'payment_page');
  if (!hasPages) throw no('invalid_payment_provider');
  if (payable.amountCents <= 0 || (await isPaymentUnderWay(ctx, payable.invoiceIds)))
    throw no('invalid_invoice_status_or_payment_status');
  if (!provider || provider.deleted_at !== null) throw no('missing_payment_provider');
  if (customer.provider_customer_id === null && can(provider, 'customers'))
    throw no('missing_payment_provider_customer');
  if (!isTakenOnPage(provider, customer.provider_payment_methods, payable.currency))
    throw refuse.invalid({ currency: ['unsupported_value'] });
  if (!toWire(wireOf(provider.provider_type, provider.settings), payable.amountCents, payable.currency))
    throw refuse.invalid({ currency: ['unsupported_value'] });
  const page = await openPaymentPage(ctx, customer.id, provider, payable);
  return { customer, url: page.url || page.id };
}

/** The answer with the address that the provider gave. @throws Refusal 422 provider_error; 401; 429 */
export async function showPaymentUrl(ctx: Context, body: Awaited<ReturnType<typeof makePaymentUrl>>) {
  const details = body.invoice_payment_details;
  return { invoice_payment_details: { ...details, payment_url: await awaitPage(ctx, details.payment_url) } };
}
