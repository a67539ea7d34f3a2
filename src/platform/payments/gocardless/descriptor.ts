import { oneOf } from '../../schema/fields.ts';
import type { ProviderDescriptor } from '../descriptor.ts';
import { hmac, isSame } from '../signatures.ts';
import { gocardlessContract } from './contract.ts';
import { gocardlessProvider } from './driver.ts';
import { gocardlessEventsIn, parseGocardlessEvent } from './events.ts';
import { SETTLES_ON, stateOf } from './states.ts';
import { GOCARDLESS_WIRE } from './wire.ts';

/** GoCardless keeps keys for longer; nothing is sent again after a day, as with the other providers. */
const KEY_LIVES_HOURS = 23;

/** GoCardless takes 1000 requests a minute. */
const CALLS_PER_SECOND = 15;

const ENVIRONMENTS = ['live', 'sandbox'] as const;

const isLive = (settings: Readonly<Record<string, unknown>>): boolean => settings.environment !== 'sandbox';

/** Rules: provider-connections.md#types, provider-connections.md#gocardless. */
export const gocardlessDescriptor: ProviderDescriptor<typeof gocardlessContract.name> = {
  type: gocardlessContract.name,
  isForSandboxesOnly: false,
  secrets: [
    { name: 'access_token', isMandatory: true },
    { name: 'webhook_secret', isMandatory: false },
  ],
  settings: [
    { name: 'environment', input: oneOf(ENVIRONMENTS), isMandatory: false, selectsAccount: true },
    { name: 'settle_on', input: oneOf(SETTLES_ON), isMandatory: false },
  ],
  inbound: {
    secret: 'webhook_secret',
    isSigned: ({ body, header, secret }) => isSame(header('webhook-signature') ?? '', hmac(secret, 'hex', body)),
    eventsIn: gocardlessEventsIn,
    parse: parseGocardlessEvent,
  },
  capabilities: () => gocardlessContract.capabilities,
  isLive: ({ settings }) => isLive(settings),
  liveField: 'environment',
  wireOf: () => GOCARDLESS_WIRE,
  keyLivesHours: KEY_LIVES_HOURS,
  callsPerSecond: CALLS_PER_SECOND,
  stateOf,
  open: ({ secrets, settings }, config) =>
    gocardlessProvider({
      accessToken: secrets.access_token ?? '',
      isLive: isLive(settings),
      apiUrl: config.GOCARDLESS_API_URL,
      settings,
    }),
};
