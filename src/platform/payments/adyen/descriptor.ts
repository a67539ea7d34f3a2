import { text } from '../../schema/fields.ts';
import type { ProviderDescriptor } from '../descriptor.ts';
import { adyenContract } from './contract.ts';
import { adyenProvider } from './driver.ts';
import { adyenEventsIn, isSignedByAdyen, parseAdyenEvent } from './events.ts';
import { ADYEN_WIRE } from './wire.ts';

/** Adyen keeps keys for a week at least; nothing is sent again after a day, as with the other providers. */
const KEY_LIVES_HOURS = 23;

/** Adyen names no limit; no account is called more often than the setting of the service allows by default. */
const CALLS_PER_SECOND = 20;

const NAME_MAX = 255;
/** The part of the host of a live account that Adyen gives: nothing else may reach the address of a call. */
const LIVE_PREFIX = /^[a-z0-9]{8,64}(-[a-z0-9]{1,64}){0,4}$/i;

const livePrefixOf = ({ live_prefix: prefix }: Readonly<Record<string, unknown>>): string | undefined =>
  typeof prefix === 'string' && LIVE_PREFIX.test(prefix) ? prefix : undefined;

/** Rules: provider-connections.md#types, provider-connections.md#adyen. */
export const adyenDescriptor: ProviderDescriptor<typeof adyenContract.name> = {
  type: adyenContract.name,
  isForSandboxesOnly: false,
  secrets: [
    { name: 'api_key', isMandatory: true },
    { name: 'hmac_key', isMandatory: false, pattern: /^[0-9a-f]{64}$/i },
  ],
  settings: [
    { name: 'merchant_account', input: text({ max: NAME_MAX }), isMandatory: true, selectsAccount: true },
    {
      name: 'live_prefix',
      input: text({ max: NAME_MAX }).refine((prefix) => LIVE_PREFIX.test(prefix), 'value_is_invalid'),
      isMandatory: false,
      selectsAccount: true,
    },
    { name: 'client_key', input: text({ max: NAME_MAX }), isMandatory: false },
  ],
  inbound: {
    secret: 'hmac_key',
    isSigned: ({ body, secret }) => isSignedByAdyen(body, secret),
    eventsIn: adyenEventsIn,
    parse: parseAdyenEvent,
    accepted: '[accepted]',
  },
  capabilities: () => adyenContract.capabilities,
  returnFields: ['redirectResult'],
  // 3-D Secure. The page of another method may take the money without our telling what its customer brings back.
  asksToConfirm: ({ type, paymentMethodType }) =>
    String(type).startsWith('threeDS') || (type === 'redirect' && paymentMethodType === 'scheme'),
  isLive: ({ settings }) => livePrefixOf(settings) !== undefined,
  liveField: 'live_prefix',
  wireOf: () => ADYEN_WIRE,
  keyLivesHours: KEY_LIVES_HOURS,
  callsPerSecond: CALLS_PER_SECOND,
  open: ({ secrets, settings, returnUrl }, config) =>
    adyenProvider({
      apiKey: secrets.api_key ?? '',
      merchantAccount: String(settings.merchant_account),
      livePrefix: livePrefixOf(settings),
      apiUrl: config.ADYEN_API_URL,
      returnUrl,
    }),
};
