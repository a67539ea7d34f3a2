import { randomBytes } from 'node:crypto';
import { CURRENCIES, type Currency } from '../../../engine/money/currency.ts';
import type { WireTable } from '../../../engine/money/wire.ts';
import { list } from '../../schema/bounded.ts';
import { boolean, oneOf } from '../../schema/fields.ts';
import { webUrl } from '../../schema/typed-text.ts';
import type { Capability } from '../capabilities.ts';
import { oneEventABody, type ProviderDescriptor } from '../descriptor.ts';
import { moneyhashContract } from '../moneyhash/contract.ts';
import { isSignedStandard } from '../standard-webhooks.ts';
import { takesOnly } from '../takes-only.ts';
import { customProvider } from './driver.ts';
import { parseCustomEvent } from './events.ts';
import { OPERATIONS } from './protocol.ts';

/** What our protocol has operations for. */
const CAPABLE_OF = [
  'customers',
  'setup_page',
  'off_session_charge',
  'payment_page',
  'refund',
  'partial_refund',
  'cancel',
  'list',
  'read',
  'mandate',
] as const satisfies readonly Capability[];

/** A provider of the protocol keeps ids for a day, as the documentation asks. */
const KEY_LIVES_HOURS = 23;

/** A provider of the protocol that takes fewer says so by a 429. */
const CALLS_PER_SECOND = 20;

/** Items of a list that are read before it is refused; a message names a hundred wrong ones. */
const LIST_MAX = 500;
const URL_MAX = 1024;
const SECRET_BYTES = 32;

/** Currencies that are not in the connection's list are not taken; an absent list means all. */
const onlyThese = (currencies: unknown): WireTable => (Array.isArray(currencies) ? takesOnly(currencies) : {});

/**
 * A provider of anybody, which answers our protocol.
 * Rules: provider-connections.md#types, provider-connections.md#custom-provider.
 */
export const customDescriptor: ProviderDescriptor<'custom'> = {
  type: 'custom',
  isForSandboxesOnly: false,
  appearsAs: moneyhashContract.name,
  secrets: [
    {
      name: 'shared_secret',
      isMandatory: false,
      make: () => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`,
      pattern: /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/,
    },
  ],
  settings: [
    {
      name: 'endpoint_url',
      input: webUrl().refine((url) => url.length <= URL_MAX, 'value_is_too_long'),
      isMandatory: true,
      isAddress: true,
    },
    { name: 'live', input: boolean(), isMandatory: true },
    { name: 'capabilities', input: list(oneOf(CAPABLE_OF), { max: LIST_MAX }), isMandatory: true },
    { name: 'currencies', input: list(oneOf(CURRENCIES), { max: LIST_MAX }), isMandatory: false },
  ],
  inbound: {
    secret: 'shared_secret',
    isSigned: ({ header, ...message }) => isSignedStandard(header, message),
    eventsIn: oneEventABody,
    parse: parseCustomEvent,
  },
  capabilities: ({ settings }) =>
    CAPABLE_OF.filter((each) => ((settings.capabilities as Capability[] | undefined) ?? CAPABLE_OF).includes(each)),
  isLive: ({ settings }) => settings.live !== false,
  liveField: 'live',
  // It refuses to cancel what it may still take.
  asksToConfirm: () => true,
  wireOf: ({ currencies }) => onlyThese(currencies as Currency[] | undefined),
  keyLivesHours: KEY_LIVES_HOURS,
  callsPerSecond: CALLS_PER_SECOND,
  protocol: OPERATIONS,
  open: ({ code, secrets, settings, inboundUrl }, config) =>
    customProvider(
      {
        endpointUrl: String(settings.endpoint_url),
        secret: secrets.shared_secret ?? '',
        connection: code,
        isLive: settings.live !== false,
        inboundUrl,
      },
      onlyThese(settings.currencies),
      config,
    ),
};
