import { contractOf } from '../contract-providers.ts';
import { oneEventABody, type ProviderDescriptor } from '../descriptor.ts';
import { hmac, isSame } from '../signatures.ts';
import { stripeContract } from '../stripe/contract.ts';
import { STRIPE_SETTINGS } from '../stripe/descriptor.ts';
import { parseSandboxEvent } from './events.ts';

/** A double keeps what it was given, and nobody is called. */
const UNLIMITED = Number.POSITIVE_INFINITY;

/**
 * The double of sandboxes, which behaves like a provider of the published interface.
 * Rules: provider-connections.md#types, provider-connections.md#sandbox-provider.
 */
export const sandboxDescriptor: ProviderDescriptor<'sandbox'> = {
  type: 'sandbox',
  isForSandboxesOnly: true,
  appearsAs: stripeContract.name,
  secrets: [{ name: 'webhook_secret', isMandatory: false }],
  settings: STRIPE_SETTINGS,
  inbound: {
    secret: 'webhook_secret',
    isSigned: ({ body, header, secret }) => isSame(header('x-sandbox-signature') ?? '', hmac(secret, 'hex', body)),
    eventsIn: oneEventABody,
    parse: parseSandboxEvent,
  },
  capabilities: ({ emulates }) => contractOf(emulates ?? stripeContract.name).capabilities,
  isLive: () => false,
  liveField: 'webhook_secret',
  beginsTransfers: true,
  wireOf: () => ({}),
  keyLivesHours: UNLIMITED,
  callsPerSecond: UNLIMITED,
};
