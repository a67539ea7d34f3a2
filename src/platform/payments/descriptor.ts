import type { z } from 'zod';
import type { WireTable } from '../../engine/money/wire.ts';
import type { Config } from '../config.ts';
import type { Capability } from './capabilities.ts';
import type { ContractProvider } from './contract-providers.ts';
import type { PaymentProvider, ProviderEvent } from './port.ts';
import type { PaymentState } from './words.ts';

/** A secret of a connection, stored sealed. */
export interface SecretField {
  name: string;
  /** Whether a connection cannot be made without it. */
  isMandatory: boolean;
  /** Made by us where the client sends none, and shown once. */
  make?: () => string;
  /** What a client may send instead. */
  pattern?: RegExp;
}

/** A setting of a connection, which may be shown. */
export interface SettingField {
  name: string;
  /** What a client may send. */
  input: z.ZodType;
  isMandatory: boolean;
  /** Whether open pages of the provider were made with it, so that a change closes them. */
  isOnPages?: true;
  /** An address of the client that we call: https, and not in a private network. */
  isAddress?: true;
  /** Which account of the provider is reached, so that it is asked again after a change. */
  selectsAccount?: true;
}

/** What a connection was given: its open secrets and its settings. */
export interface Given {
  secrets: Readonly<Record<string, string>>;
  settings: Readonly<Record<string, unknown>>;
}

/** A signed message of a provider, as it arrived. */
export interface InboundMessage {
  body: Buffer;
  header(name: string): string | undefined;
  secret: string;
  nowSeconds: number;
}

/** One of the events in a body, by the provider's id of it. */
export interface NamedEvent {
  id: string;
  type: string;
  payload: Record<string, unknown>;
}

/** How events of a provider arrive. Rule: provider-connections.md#inbound-events. */
export interface Inbound {
  /** Name of the secret that signs them. */
  secret: string;
  isSigned(message: InboundMessage): boolean;
  /** The events in a parsed body; none, when it cannot be one of the provider. */
  eventsIn(body: Record<string, unknown>): NamedEvent[];
  /** A stored event in our terms. */
  parse(payload: Record<string, unknown>): ProviderEvent;
  /** Body of the answer to events that were taken; absent: none. */
  accepted?: string;
}

/** An operation that we post to a provider. */
export interface ProtocolOperation {
  summary: string;
  data: z.ZodType;
  /** What an answer with status 200 holds. */
  answer: z.ZodType;
}

/** A connection whose secrets are open. */
export interface OpenConnection extends Given {
  code: string;
  /** Our address for its events. */
  inboundUrl: string;
  /** Where customers come back to whom the provider sends away during a charge; absent where nothing is charged. */
  returnUrl?: string;
}

/**
 * All that distinguishes one type of connection from another; a row of `PROVIDERS`.
 * Rule: provider-connections.md#types.
 */
export interface ProviderDescriptor<Type extends string = string> {
  type: Type;
  /** Only sandbox organizations may have it. */
  isForSandboxesOnly: boolean;
  /**
   * For a type that the published interface does not name: the name under which it appears there, unless the connection
   * is given another one.
   */
  appearsAs?: ContractProvider;
  secrets: readonly SecretField[];
  settings: readonly SettingField[];
  inbound: Inbound;
  capabilities(connection: { settings: Given['settings']; emulates: ContractProvider | null }): readonly Capability[];
  /** Whether it moves real money; undefined while only the provider knows. */
  isLive(given: Given): boolean | undefined;
  /** The secret or setting that is refused when a live account is given in a sandbox. */
  liveField: string;
  /** Whether it begins transfers of customers: its driver has `requestTransfer`, or it is a double that plays them. */
  beginsTransfers?: true;
  /** Queries that it adds to the address to which a customer comes back, and that its driver has to be told. */
  returnFields?: readonly string[];
  /**
   * Whether an action for which a charge waits is its customer's confirmation: such a charge ends where nobody gives
   * it. Absent: it asks for none. Others (a voucher, a deposit) end by themselves, when the provider says so.
   */
  asksToConfirm?: (nextAction: Readonly<Record<string, unknown>>) => boolean;
  /** The units in which it takes amounts. */
  wireOf(settings: Given['settings']): WireTable;
  /** Our state for its word of a payment, where that depends on the settings. */
  stateOf?: (word: string, settings: Given['settings']) => PaymentState;
  /**
   * How many hours it remembers an idempotency key; later nothing is sent again, because it could be done twice.
   */
  keyLivesHours: number;
  /** How many calls a second it takes of one account, whatever the setting allows. */
  callsPerSecond: number;
  /** The operations of a protocol of ours that it has to answer, for the description of the API. */
  protocol?: Readonly<Record<string, ProtocolOperation>>;
  /** Absent for a double, which decides in the transaction of a step and calls nobody. */
  open?: (connection: OpenConnection, config: Config) => PaymentProvider;
}

/** One event a body, with its id and type in the first level. */
export const oneEventABody: Inbound['eventsIn'] = (body) => {
  const { id, type } = body;
  return typeof id === 'string' && id !== '' && typeof type === 'string' ? [{ id, type, payload: body }] : [];
};
