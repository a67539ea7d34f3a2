import type { Context } from '../../../platform/context.ts';
import { newId } from '../../../platform/ids.ts';
import { isOverNetwork } from '../../../platform/payments/providers.ts';
import { sandboxMethodOf } from '../../../platform/payments/sandbox/behaviour.ts';
import { refuse } from '../../../platform/refusal.ts';
import { type CustomerRow, lockCustomer } from '../customers/queries.ts';
import { findProviderById } from '../payment-providers/queries.ts';
import { getMethod, readMethod } from './queries.ts';
import type { MethodCreate } from './schema.ts';
import { methodView } from './view.ts';
import { discardMethod, makeDefault, storeMethod } from './writes.ts';

/**
 * Stores a test card or bank account of a customer that is linked to a sandbox connection.
 *
 * @throws Refusal 404 customer; 405 feature_not_supported, of any other connection; 422 base
 *   no_linked_payment_provider; 422 card_number or iban value_is_invalid
 * Rule: provider-connections.md#sandbox-provider.
 */
export async function createMethod(ctx: Context, input: { external_id: string; body: MethodCreate }) {
  const customer = await lock(ctx, input.external_id);
  const provider =
    customer.payment_provider_id === null ? undefined : await findProviderById(ctx, customer.payment_provider_id);
  if (!provider || customer.provider_customer_id === null)
    throw refuse.invalid({ base: ['no_linked_payment_provider'] });
  if (isOverNetwork(provider.provider_type)) throw refuse.notAllowed('feature_not_supported');
  const code = input.body.payment_provider_code;
  if (code !== undefined && code !== null && code !== provider.code)
    throw refuse.invalid({ base: ['payment_provider_not_found'] });
  const method = sandboxMethodOf(input.body);
  if (!method) throw refuse.invalid({ [input.body.iban ? 'iban' : 'card_number']: ['value_is_invalid'] });
  const id = await storeMethod(ctx, {
    customerId: customer.id,
    providerId: provider.id,
    providerCustomerId: customer.provider_customer_id,
    providerMethodId: `pm_sandbox_${newId()}`,
    type: method.type,
    details: { last4: method.last4, behaviour: method.behaviour },
    isDefault: input.body.set_as_default ?? true,
    now: ctx.now(),
  });
  return show(ctx, id);
}

/** @throws Refusal 404 customer, payment_method */
export async function setDefaultMethod(ctx: Context, input: { external_id: string; svc_id: string }) {
  const customer = await lock(ctx, input.external_id);
  const method = await getMethod(ctx, customer.id, input.svc_id);
  await makeDefault(ctx, customer.id, { id: method.id, now: ctx.now() });
  return show(ctx, method.id);
}

/** Discards a method of a customer; it is no longer the default. @throws Refusal 404 customer, payment_method */
export async function deleteMethod(ctx: Context, input: { external_id: string; svc_id: string }) {
  const customer = await lock(ctx, input.external_id);
  const method = await getMethod(ctx, customer.id, input.svc_id);
  await discardMethod(ctx, method.id, ctx.now());
  return show(ctx, method.id);
}

async function lock(ctx: Context, externalId: string): Promise<CustomerRow> {
  const customer = await lockCustomer(ctx, externalId);
  if (!customer) throw refuse.notFound('customer');
  return customer;
}

const show = async (ctx: Context, id: string) => ({
  payment_method: methodView(await readMethod(ctx, id)),
});
