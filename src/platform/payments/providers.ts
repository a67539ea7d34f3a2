import type { WireTable } from '../../engine/money/wire.ts';
import { adyenDescriptor } from './adyen/descriptor.ts';
import type { Capability } from './capabilities.ts';
import { type ContractProvider, contractOf, isContractProvider } from './contract-providers.ts';
import { customDescriptor } from './custom/descriptor.ts';
import type { ProviderDescriptor } from './descriptor.ts';
import { gocardlessDescriptor } from './gocardless/descriptor.ts';
import { sandboxDescriptor } from './sandbox/descriptor.ts';
import { paymentStatusOf } from './status-words.ts';
import { stripeDescriptor } from './stripe/descriptor.ts';
import { COIN_CURRENCIES, isPaidOnPages, isTransferred, storedKinds } from './unstored-kinds.ts';
import type { PaymentState } from './words.ts';

/** The types of connection that can be made, one row each. Rule: provider-connections.md#types. */
export const PROVIDERS: readonly ProviderDescriptor[] = [
  sandboxDescriptor,
  stripeDescriptor,
  gocardlessDescriptor,
  adyenDescriptor,
  customDescriptor,
];

/** Types that can be connected, in the order of the table. */
export const CONNECTABLE_TYPES: readonly string[] = PROVIDERS.map(({ type }) => type);

/** Types whose name the published interface does not know, so that they appear under another one. */
export const EMULATING_TYPES = [sandboxDescriptor.type, customDescriptor.type] as const;

/** Types reached over the network, so by jobs outside any transaction. */
export const NETWORK_TYPES: readonly string[] = PROVIDERS.filter(({ open }) => open).map(({ type }) => type);

/** The name of the double of sandboxes. */
export const DOUBLE = sandboxDescriptor.type;

/** The row of a type; undefined for one that cannot be connected. */
export const descriptorOf = (type: string | undefined): ProviderDescriptor | undefined =>
  PROVIDERS.find((row) => row.type === type);

export const isOverNetwork = (type: string): boolean => NETWORK_TYPES.includes(type);

/** What is stored of a connection, as far as its abilities depend on it. */
export interface StoredConnection {
  provider_type: string;
  emulates: ContractProvider | null;
  settings: Readonly<Record<string, unknown>>;
  /** By the names of its secrets what of them may be shown. */
  secrets_last4: Readonly<Record<string, string>>;
}

/** Whether the customers of a connection choose kinds of payment, as the provider's name in the interface has them. */
export const offersKindsOfMethod = ({
  provider_type,
  emulates,
}: Pick<StoredConnection, 'provider_type' | 'emulates'>): boolean =>
  contractOf(emulates ?? (provider_type as ContractProvider)).offersKindsOfMethod;

/**
 * Whether a connection begins transfers. The name that it appears under does not decide that alone: a provider of the
 * custom protocol may appear as Stripe, and the protocol has no operation for it.
 * Rule: payments.md#charged-on-line.
 */
export const beginsTransfers = (connection: Pick<StoredConnection, 'provider_type' | 'emulates'>): boolean =>
  descriptorOf(connection.provider_type)?.beginsTransfers === true && offersKindsOfMethod(connection);

/**
 * Whether a connection cannot take the kinds of payment that a customer is to choose from. Transfers need one that
 * begins them. Coins need pages in their currency, also beside other kinds; where customers choose no kinds, a list
 * matters only if nothing in it can be stored.
 *
 *   custom without pages, as Stripe: ['crypto'], ['card', 'crypto'] → true; ['card'] → false
 *
 * Rule: payments.md#charged-on-line.
 */
export const refusesKinds = (connection: StoredConnection, kinds: readonly string[]): boolean => {
  if (isTransferred(kinds)) return !beginsTransfers(connection);
  if (!isPaidOnPages(kinds)) return false;
  return offersKindsOfMethod(connection) ? !takesCoins(connection) : storedKinds(kinds).length === 0;
};

const takesCoins = (connection: StoredConnection): boolean => {
  const wire = wireOf(connection.provider_type, connection.settings);
  return can(connection, 'payment_page') && COIN_CURRENCIES.some((each) => wire[each] !== null);
};

/** Whose words a connection speaks: a double those of the provider that it behaves like, others their own. */
export const wordsOf = ({ provider_type, emulates }: Pick<StoredConnection, 'provider_type' | 'emulates'>): string =>
  isOverNetwork(provider_type) ? provider_type : (emulates ?? provider_type);

/** What a connection can do as it is. Rule: provider-connections.md#capabilities. */
export function capabilitiesOf(connection: StoredConnection): readonly Capability[] {
  const type = descriptorOf(connection.provider_type);
  const all = type?.capabilities(connection) ?? [];
  return type && isDeaf(type, connection) ? all.filter((capability) => !NEEDS_EVENTS.includes(capability)) : all;
}

/** What ends in an event: where none is accepted, money would come in, or be taken back, that is never booked. */
const NEEDS_EVENTS: readonly Capability[] = ['setup_page', 'payment_page', 'off_session_charge'];

/** Whether a connection lacks the secret that signs its events, which only a person can bring. */
const isDeaf = ({ open, inbound, secrets }: ProviderDescriptor, { secrets_last4: given }: StoredConnection): boolean =>
  open !== undefined &&
  given[inbound.secret] === undefined &&
  secrets.some(({ name, isMandatory, make }) => name === inbound.secret && !isMandatory && !make);

export const can = (connection: StoredConnection, capability: Capability): boolean =>
  capabilitiesOf(connection).includes(capability);

/** Whether a provider can do something as far as its name in the published interface tells. */
export const nameCan = (name: string | null, capability: Capability): boolean =>
  name !== null && isContractProvider(name) && contractOf(name).capabilities.includes(capability);

/** The units in which a connection takes amounts; the amounts of a double, or without connection, are ours. */
export const wireOf = (type: string | undefined, settings: StoredConnection['settings'] = {}): WireTable =>
  descriptorOf(type)?.wireOf(settings) ?? {};

/** Our state for a connection's word of a payment. Rules: payments.md#providers, provider-connections.md#gocardless. */
export function paymentStateOf(connection: StoredConnection, word: string): PaymentState {
  const own = descriptorOf(connection.provider_type)?.stateOf?.(word, connection.settings);
  const state = own ?? paymentStatusOf(wordsOf(connection), word);
  return state === 'pending' ? 'processing' : state;
}
