import { boolean } from '../../schema/fields.ts';
import { oneEventABody, type ProviderDescriptor, type SettingField } from '../descriptor.ts';
import { stripeContract } from './contract.ts';
import { stripeProvider } from './driver.ts';
import { parseStripeEvent } from './events.ts';
import { isSignedByStripe } from './signature.ts';
import { STRIPE_WIRE } from './wire.ts';

/** A full or restricted test key, which moves no money. */
const TEST_KEY = /^[sr]k_test_/;

/** Stripe forgets idempotency keys after a day. */
const KEY_LIVES_HOURS = 23;

/** Stripe takes 25 requests a second in test mode, and 100 of a live account; people use the same account. */
const CALLS_PER_SECOND = 20;

export const STRIPE_SETTINGS: readonly SettingField[] = [
  { name: 'supports_3ds', input: boolean(), isMandatory: false },
  { name: 'require_terms_of_service_consent', input: boolean(), isMandatory: false, isOnPages: true },
];

/** Rule: provider-connections.md#types. */
export const stripeDescriptor: ProviderDescriptor<typeof stripeContract.name> = {
  type: stripeContract.name,
  isForSandboxesOnly: false,
  secrets: [{ name: 'secret_key', isMandatory: true }],
  settings: STRIPE_SETTINGS,
  inbound: {
    secret: 'inbound_secret',
    isSigned: ({ body, header, secret, nowSeconds }) =>
      isSignedByStripe(body, header('stripe-signature') ?? '', secret, nowSeconds),
    eventsIn: oneEventABody,
    parse: parseStripeEvent,
  },
  capabilities: () => stripeContract.capabilities,
  isLive: ({ secrets }) => (secrets.secret_key === undefined ? undefined : !TEST_KEY.test(secrets.secret_key)),
  liveField: 'secret_key',
  beginsTransfers: true,
  asksToConfirm: ({ type }) => type === 'redirect_to_url' || type === 'use_stripe_sdk',
  wireOf: () => STRIPE_WIRE,
  keyLivesHours: KEY_LIVES_HOURS,
  callsPerSecond: CALLS_PER_SECOND,
  open: ({ secrets, settings }, config) =>
    stripeProvider({
      secretKey: secrets.secret_key ?? '',
      supports3ds: settings.supports_3ds === true,
      requiresConsent: settings.require_terms_of_service_consent === true,
      apiUrl: config.STRIPE_API_URL,
    }),
};
