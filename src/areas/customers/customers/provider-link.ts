import type { Scope } from '../../../platform/db/scope.ts';
import type { CustomerId, PaymentProviderId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { isContractProvider } from '../../../platform/payments/contract-providers.ts';
import type { ProviderError } from '../../../platform/payments/port.ts';
import { can, descriptorOf, isOverNetwork, refusesKinds } from '../../../platform/payments/providers.ts';
import { contractName, findProviderById, listProvidersNamed, type ProviderRow } from '../payment-providers/queries.ts';
import type { CustomerFields, CustomerRow } from './queries.ts';
import type { CustomerInput } from './schema.ts';

type Configuration = NonNullable<CustomerInput['billing_configuration']>;

export interface ProviderLink {
  changes: Partial<CustomerFields>;
  faults: Record<string, string[]>;
  /** The former link has ended, its payment methods with it. */
  endsFormer: boolean;
  /** Whether a customer who exists at the provider was named, whose methods there are not known yet. */
  isLinkedAnew?: true;
  /** The connection at which the customer was, or is to be, made. */
  madeAt?: ProviderRow;
  /** Where the customer stores a payment method, if the provider has opened a page for it. */
  checkoutUrl?: string;
  /** Why the provider did not make the customer. */
  refused?: ProviderError;
}

/** What a provider said before the command that makes or changes a customer. */
export type MadeThere = { customerId: CustomerId; connectionId: PaymentProviderId } & (
  | { providerCustomerId: string; checkoutUrl?: string }
  | { refused: ProviderError }
);

/** The link with what the provider said of the customer; unchanged if that was another customer or connection. */
export function linkMadeThere(link: ProviderLink, customerId: CustomerId, there: MadeThere): ProviderLink {
  if (there.customerId !== customerId || there.connectionId !== link.madeAt?.id) return link;
  if (!('refused' in there)) {
    const { providerCustomerId, checkoutUrl } = there;
    const changes = { ...link.changes, provider_customer_id: providerCustomerId };
    return { ...link, changes, ...(checkoutUrl === undefined ? {} : { checkoutUrl }) };
  }
  const { madeAt: _, ...unmade } = link;
  return { ...unmade, changes: { ...link.changes, payment_provider_id: null }, refused: there.refused };
}

const UNLINKED = {
  payment_provider: null,
  payment_provider_code: null,
  provider_customer_id: null,
  payment_provider_id: null,
  provider_payment_methods: ['card'],
};

/**
 * The link with a payment provider after an upsert. Naming a provider alone stores its name; creating the customer
 * there (`sync_with_provider`) or linking it (`provider_customer_id`) needs a connection. `sandbox` is stored under the
 * name that its connection emulates. Rules: customers.md#payment-provider, provider-connections.md#sandbox-provider.
 */
export async function providerLink(
  scope: Scope,
  input: Configuration,
  stored: CustomerRow | undefined,
): Promise<ProviderLink> {
  const changes: Partial<CustomerFields> = {};
  const faults: Record<string, string[]> = {};
  if (input.payment_provider === null) return { changes: UNLINKED, faults, endsFormer: stored !== undefined };
  const provider = input.payment_provider ?? stored?.payment_provider ?? null;
  const code =
    input.payment_provider_code === undefined ? (stored?.payment_provider_code ?? null) : input.payment_provider_code;
  const givenId = input.provider_customer_id ?? null;
  const isToBeLinked = givenId !== null || (provider !== null && input.sync_with_provider === true);
  if (input.payment_provider !== undefined)
    changes.payment_provider = await nameOf(scope, input.payment_provider, code);
  if (input.payment_provider_code !== undefined) changes.payment_provider_code = input.payment_provider_code;
  if (input.provider_customer_id === null) changes.provider_customer_id = null;
  if (input.provider_payment_methods !== undefined) changes.provider_payment_methods = input.provider_payment_methods;
  const leaves =
    stored?.payment_provider_id != null &&
    ((changes.payment_provider ?? stored.payment_provider) !== stored.payment_provider ||
      code !== stored.payment_provider_code);
  if (leaves) Object.assign(changes, { payment_provider_id: null, provider_customer_id: null });
  const types = changes.provider_payment_methods ?? stored?.provider_payment_methods ?? ['card'];
  const refused = { changes, faults: { provider_payment_methods: ['unsupported_value'] }, endsFormer: false };
  if (!isToBeLinked) {
    const isAsked = input.provider_payment_methods !== undefined;
    const keptId = isAsked && !leaves ? (stored?.payment_provider_id ?? null) : null;
    const kept = keptId === null ? undefined : await findProviderById(scope, keptId);
    return kept && refusesKinds(kept, types) ? refused : { changes, faults, endsFormer: leaves };
  }

  const named = changes.payment_provider ?? stored?.payment_provider ?? null;
  const [connection, another] = await listProvidersNamed(scope, named, code);
  if (!connection) return { changes, faults: { base: ['payment_provider_not_found'] }, endsFormer: false };
  if (another) return { changes, faults: { base: ['payment_provider_code_missing'] }, endsFormer: false };
  if (refusesKinds(connection, types)) return refused;
  const isSame = stored?.payment_provider_id === connection.id;
  Object.assign(changes, {
    payment_provider: contractName(connection),
    payment_provider_code: connection.code,
    payment_provider_id: connection.id,
  });
  const knownId = givenId ?? (isSame ? (stored?.provider_customer_id ?? null) : null);
  const isMade = knownId === null;
  changes.provider_customer_id = knownId ?? ownReference(connection);
  const endsFormer = stored?.payment_provider_id != null && (!isSame || knownId !== stored.provider_customer_id);
  const isNamedAnew = givenId !== null && !(isSame && stored?.provider_customer_id === givenId);
  return {
    changes,
    faults,
    endsFormer,
    ...(isNamedAnew && isOverNetwork(connection.provider_type) ? { isLinkedAnew: true } : {}),
    ...(isMade ? { madeAt: connection } : {}),
  };
}

/** Our own name of a customer, where the provider makes none; null where a job asks it to. */
function ownReference(connection: ProviderRow): string | null {
  if (!isOverNetwork(connection.provider_type)) return `cus_sandbox_${newId()}`;
  return can(connection, 'customers') ? null : `cus_${newId()}`;
}

// The contract's name for the caller's provider: a type that the contract does not know appears under another name.
async function nameOf(
  scope: Scope,
  provider: NonNullable<Configuration['payment_provider']>,
  code: string | null,
): Promise<CustomerFields['payment_provider']> {
  if (isContractProvider(provider)) return provider;
  const connections = await listProvidersNamed(scope, null, code);
  const emulating = connections.find(({ provider_type }) => provider_type === provider);
  return emulating ? contractName(emulating) : descriptorOf(provider)!.appearsAs!;
}
