import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import type { CustomerId } from '../../../platform/ids.ts';
import { contractOf } from '../../../platform/payments/contract-providers.ts';
import type { ProviderError } from '../../../platform/payments/port.ts';
import { can } from '../../../platform/payments/providers.ts';
import { storedKinds } from '../../../platform/payments/unstored-kinds.ts';
import { announce } from '../../../platform/reactions.ts';
import { customerLeftProvider, customerNeedsNoMethod, paymentMethodWanted } from '../announcements.ts';
import type { ProviderLink } from './provider-link.ts';
import type { CustomerRow } from './queries.ts';
import { customerWebhookView } from './view.ts';

/** Makes a customer at its provider, over the network. */
export const CREATE_CUSTOMER_JOB = 'payment.create-customer';

/** Reads the methods of a customer at its provider, over the network. */
const IMPORT_METHODS_JOB = 'payment.import-methods';

/** Whether a customer has to store a method before anything can be charged. Rule: payments.md#providers. */
export const needsSetup = (customer: Pick<CustomerRow, 'payment_provider' | 'provider_payment_methods'>): boolean =>
  customer.payment_provider === null ||
  !contractOf(customer.payment_provider).offersKindsOfMethod ||
  storedKinds(customer.provider_payment_methods).length > 0;

/**
 * Follows a changed link: methods of the former provider are discarded, the customer is created at the new one and
 * announced.
 */
export async function announceLink(ctx: Context, customer: CustomerRow, link: ProviderLink): Promise<void> {
  if (link.endsFormer) await announce(ctx, customerLeftProvider, { customer_id: customer.id });
  if (link.isLinkedAnew) await oweMethods(ctx, customer.id, { keepsDefault: false });
  if (link.refused) recordNotMade(ctx, customer, link.refused);
  if (link.madeAt || link.isLinkedAnew || link.changes.provider_payment_methods !== undefined)
    await announceNoMethodNeeded(ctx, customer);
  if (!link.madeAt) return;
  if (customer.provider_customer_id === null)
    return ctx.after({ nudge: CREATE_CUSTOMER_JOB, payload: { customer_id: customer.id } });
  recordMade(ctx, customer);
  if (!needsSetup(customer) || !can(link.madeAt, 'setup_page')) return;
  const { madeAt: provider, checkoutUrl } = link;
  await announce(ctx, paymentMethodWanted, { customer, provider, ...(checkoutUrl ? { checkoutUrl } : {}) });
}

/** Announces that nothing has to be stored, so that what waited for a method can be charged. */
export async function announceNoMethodNeeded(ctx: Context, customer: CustomerRow): Promise<void> {
  if (customer.provider_customer_id === null || needsSetup(customer)) return;
  await announce(ctx, customerNeedsNoMethod, { customer_id: customer.id });
}

/**
 * Owes the reading of the methods that a customer has at its provider.
 *
 * keepsDefault  the default one stays, because the customer has just stored it
 */
export async function oweMethods(
  ctx: Context,
  id: CustomerId,
  { keepsDefault }: { keepsDefault: boolean },
): Promise<void> {
  await ctx.db`
    update customers set methods_owed_at = ${realNow()},
      methods_keep_default = ${keepsDefault} and (methods_owed_at is null or methods_keep_default)
    where organization_id = ${ctx.organizationId} and id = ${id}`;
  ctx.after({ nudge: IMPORT_METHODS_JOB, payload: { customer_id: id } });
}

/** The same for many customers at once, locked: those of whom it is owed already stay as they are. */
export async function oweMethodsOfMany(ctx: Context, ids: readonly CustomerId[]): Promise<void> {
  const owed = await ctx.db<{ id: CustomerId }[]>`
    update customers set methods_owed_at = ${realNow()}, methods_keep_default = true
    where organization_id = ${ctx.organizationId} and id = any (${ids}::uuid[]) and methods_owed_at is null
    returning id`;
  for (const { id } of owed) ctx.after({ nudge: IMPORT_METHODS_JOB, payload: { customer_id: id } });
}

/** Announces what a provider refused about a customer. Rule: provider-connections.md#customers-at-the-provider. */
export const recordNotMade = (ctx: Context, customer: CustomerRow, error: ProviderError): void =>
  ctx.record({
    webhook: {
      type: 'customer.payment_provider_error',
      objectType: 'payment_provider_customer_error',
      objectId: customer.id,
      customerId: customer.id,
      object: {
        svc_customer_id: customer.id,
        external_customer_id: customer.external_id,
        payment_provider: customer.payment_provider,
        payment_provider_code: customer.payment_provider_code,
        provider_error: { message: error.message, error_code: error.code },
      },
    },
  });

/** Announces that a customer was made at its provider. Rule: customers.md#payment-provider. */
export const recordMade = (ctx: Context, customer: CustomerRow): void =>
  ctx.record({
    webhook: {
      type: 'customer.payment_provider_created',
      objectType: 'customer',
      objectId: customer.id,
      customerId: customer.id,
      object: customerWebhookView(customer),
    },
  });
