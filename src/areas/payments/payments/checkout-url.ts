import type { Context } from '../../../platform/context.ts';
import { can } from '../../../platform/payments/providers.ts';
import type { PayloadOf } from '../../../platform/reactions.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { paymentMethodWanted } from '../../customers/announcements.ts';
import { needsSetup } from '../../customers/customers/announce-link.ts';
import type { CustomerRow } from '../../customers/customers/queries.ts';
import { getCustomer, readCustomer } from '../../customers/customers/queries.ts';
import { findProviderById } from '../../customers/payment-providers/queries.ts';
import { awaitPage, openSetupPage } from './provider-pages.ts';

/**
 * Link to a page where the customer stores a payment method.
 *
 * @throws Refusal 404 customer; 422 base no_linked_payment_provider; 405 feature_not_supported;
 *   422 provider_payment_methods no_payment_methods_to_setup_available; 422 provider_error; 401; 429
 * Rules: customers.md#deletion-portal-checkout, payments.md#checkout.
 */
export async function makeCheckoutUrl(ctx: Context, { external_id }: { external_id: string }) {
  const customer = await getCustomer(ctx, external_id);
  const provider =
    customer.payment_provider_id === null ? undefined : await findProviderById(ctx, customer.payment_provider_id);
  if (!provider || customer.provider_customer_id === null)
    throw refuse.invalid({ base: ['no_linked_payment_provider'] });
  if (!can(provider, 'setup_page')) throw refuse.notAllowed('feature_not_supported');
  if (!needsSetup(customer))
    throw refuse.invalid({ provider_payment_methods: ['no_payment_methods_to_setup_available'] });
  const page = await openSetupPage(ctx, customer, provider);
  return { customer: checkoutView(customer, page.url || page.id) };
}

/** The answer with the address that the provider gave. @throws Refusal 422 provider_error; 401; 429 */
export async function showCheckoutUrl(ctx: Context, body: Awaited<ReturnType<typeof makeCheckoutUrl>>) {
  const url = await awaitPage(ctx, body.customer.checkout_url);
  const customer = await readCustomer(ctx, body.customer.svc_customer_id);
  return { customer: checkoutView(customer, url) };
}

/** Opens the page on which a customer, created at its provider, stores a payment method; returns its address. */
export async function offerSetupPage(
  ctx: Context,
  { customer, provider, checkoutUrl }: PayloadOf<typeof paymentMethodWanted>,
): Promise<void> {
  if (checkoutUrl !== undefined) return recordCheckoutUrl(ctx, customer, checkoutUrl);
  const page = await openSetupPage(ctx, customer, provider);
  recordCheckoutUrl(ctx, customer, page.url);
}

/** Announces the address of the page where the customer stores a payment method. */
export const recordCheckoutUrl = (ctx: Context, customer: CustomerRow, url: string): void =>
  ctx.record({
    webhook: {
      type: 'customer.checkout_url_generated',
      objectType: 'payment_provider_customer_checkout_url',
      objectId: customer.id,
      customerId: customer.id,
      object: checkoutView(customer, url),
    },
  });

export const checkoutView = (customer: CustomerRow, url: string) => ({
  svc_customer_id: customer.id,
  external_customer_id: customer.external_id,
  payment_provider: customer.payment_provider,
  payment_provider_code: customer.payment_provider_code,
  checkout_url: url,
});
