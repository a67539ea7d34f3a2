import { ProviderConflict, type ProviderError, ProviderRefusal } from '../../../platform/payments/port.ts';
import { can } from '../../../platform/payments/providers.ts';
import { answeredInTime, type PreStep } from '../../../platform/pre-step.ts';
import { publicUrl } from '../../../platform/public-url.ts';
import type { SystemDeps } from '../../../platform/records/system-transaction.ts';
import { Outage } from '../../../platform/refusal.ts';
import { needsSetup } from '../../customers/customers/announce-link.ts';
import { type MadeThere, providerLink } from '../../customers/customers/provider-link.ts';
import { type CustomerRow, findCustomer } from '../../customers/customers/queries.ts';
import { type Connected, connected } from '../provider-network/network.ts';

type ToBeMade = Pick<
  CustomerRow,
  'id' | 'external_id' | 'name' | 'email' | 'currency' | 'payment_provider' | 'provider_payment_methods'
>;

/** A customer at its provider, with the page on which it stores a method if it has to. */
export type CustomerThere = { providerCustomerId: string; checkoutUrl?: string } | { refused: ProviderError };

/** Makes a customer at its provider, once however often it is asked for. @throws Outage */
export async function makeCustomerThere(
  { config }: Pick<SystemDeps, 'config'>,
  { row, provider }: Connected,
  customer: ToBeMade,
): Promise<CustomerThere> {
  const { id } = customer;
  try {
    const providerCustomerId = await provider.createCustomer({
      idempotencyKey: `customer-${id}-${row.id}`,
      name: customer.name,
      email: customer.email?.split(',')[0] ?? null,
      metadata: { customer_id: id, external_customer_id: customer.external_id },
    });
    if (!needsSetup(customer) || !can(row, 'setup_page')) return { providerCustomerId };
    const page = await provider.openPage({
      idempotencyKey: `setup-${id}-${row.id}-${providerCustomerId}`,
      providerCustomerId,
      methodTypes: customer.provider_payment_methods,
      successUrl: row.success_redirect_url ?? publicUrl(config),
      currency: customer.currency,
      metadata: { customer_id: id },
    });
    return { providerCustomerId, checkoutUrl: page.url };
  } catch (error) {
    if (!(error instanceof ProviderRefusal || error instanceof ProviderConflict)) throw error;
    return { refused: error.error };
  }
}

/**
 * Pre-step of `POST /customers` with `sync`: the answer contains the id of the customer at its provider. Billing data
 * never wait for a provider, so without an answer a job makes the customer, under the same key.
 *
 * Rules: customers.md#payment-provider, provider-connections.md#customers-at-the-provider.
 */
export const askForCustomer: PreStep = async (deps, { organizationId, recordId, input: { body } }) => {
  const scope = { db: deps.sql, organizationId };
  const stored = await findCustomer(scope, body.external_id);
  const { madeAt, changes } = await providerLink(scope, body.billing_configuration ?? {}, stored);
  if (!madeAt || changes.provider_customer_id !== null) return undefined;
  const customer: ToBeMade = {
    id: stored?.id ?? recordId,
    external_id: body.external_id,
    name: body.name === undefined ? (stored?.name ?? null) : body.name,
    email: body.email === undefined ? (stored?.email ?? null) : body.email,
    currency: body.currency === undefined ? (stored?.currency ?? null) : body.currency,
    payment_provider: changes.payment_provider ?? null,
    provider_payment_methods: changes.provider_payment_methods ?? stored?.provider_payment_methods ?? ['card'],
  };
  try {
    const connection = await connected(deps, organizationId, madeAt.id);
    if (!connection) return undefined;
    const there = await answeredInTime(makeCustomerThere(deps, connection, customer));
    return { customerId: customer.id, connectionId: madeAt.id, ...there } satisfies MadeThere;
  } catch (error) {
    if (error instanceof Outage) return undefined;
    throw error;
  }
};
