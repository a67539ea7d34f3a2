import { hash } from 'node:crypto';
import { isKeptNumber } from '../../../engine/metrics/property-text.ts';
import { own } from '../../../engine/own.ts';
import type { ExternalSubscriptionId } from '../../../platform/ids.ts';
import { type FieldErrors, refuse } from '../../../platform/refusal.ts';
import { FORMAT, INVALID, MANDATORY, TOO_LONG } from '../../../platform/schema/fields.ts';
import { INSTANT_MAX, KEY_MAX_BYTES } from '../../../platform/schema/sizes.ts';
import { isStorable } from '../../../platform/schema/storable.ts';
import { microsOf } from './iso-time.ts';
import { type ParsedEvent, parseEvent } from './parse-event.ts';
import type { EventsReader } from './read-request.ts';

const NO_TYPES: ReadonlyMap<string, string> = new Map();
const UNSUPPORTED = 'unsupported_value';
const TAKEN = 'value_already_exist';

/** Attributes of CloudEvents 1.0; all others are extensions. */
const ATTRIBUTES: ReadonlySet<string> = new Set([
  'specversion',
  'id',
  'source',
  'type',
  'subject',
  'time',
  'datacontenttype',
  'dataschema',
  'data',
  'data_base64',
]);
/** Attribute from which each field of an event comes. */
const ATTRIBUTE_OF: Readonly<Record<string, string>> = {
  code: 'type',
  external_subscription_id: 'subject',
  timestamp: 'time',
  properties: 'data',
};

/** How many extensions a CloudEvent may have, and how many characters the name of one. */
const EXTENSIONS_MAX = 64;
const EXTENSION_NAME = /^[a-z0-9]{1,100}$/;
const JSON_DATA = /^[^/;\s]+\/(?:[^/;\s]+\+)?json\s*(?:;|$)/i;
/** RFC 3339: date and time, digits of the fraction, zone. Temporal alone takes more forms. */
const RFC_3339 = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/i;

type Attributes = Record<string, unknown>;

/**
 * Checks a CloudEvent 1.0 in its JSON form and turns it into the event that its plain form would be, with the same
 * transaction id and the same digest. Errors are named by attributes, all together.
 *
 *   {source: "/gw", id: "7", type: "calls", subject: "ada-1", …} → transaction_id "/gw 7", code "calls"
 *
 * types  codes of events by the types of CloudEvents; another type is the code
 *
 * Rule: cloud-events.md#attributes.
 */
export function parseCloudEvent(input: unknown, types: ReadonlyMap<string, string> = NO_TYPES): ParsedEvent {
  const errors: FieldErrors = {};
  const { plain, extensions, sent } = envelopeIn(input, errors, types);
  const parsed = parseEvent({ ...plain, properties: propertiesOf(sent, extensions, errors) });
  if (!parsed.ok)
    for (const [field, codes] of Object.entries(parsed.errors)) {
      // Of the transaction id everything was said about source and id.
      const attribute = ATTRIBUTE_OF[field];
      if (attribute !== undefined) errors[attribute] ??= codes;
    }
  if (Object.keys(errors).length > 0) return { ok: false, errors };
  return parsed;
}

/** What the attributes of a CloudEvent say about its event, all but the data. */
export interface CloudEnvelope {
  plain: {
    transaction_id: string | undefined;
    code: string | undefined;
    external_subscription_id: ExternalSubscriptionId | undefined;
    timestamp: string | undefined;
  };
  /** Names of properties and their texts. */
  extensions: [name: string, text: string][];
  sent: Attributes;
}

/** Reads the attributes of a CloudEvent; `errors` gets their faults. */
export function envelopeIn(input: unknown, errors: FieldErrors, types: ReadonlyMap<string, string>): CloudEnvelope {
  const sent = attributesOf(input);
  const type = textOf(sent, 'type', errors, { isMandatory: true });
  const plain = {
    transaction_id: transactionIdOf(sent, errors),
    code: type === undefined ? undefined : (types.get(type) ?? type),
    external_subscription_id: textOf(sent, 'subject', errors),
    timestamp: timestampOf(sent, errors),
  };
  const extensions = extensionsOf(sent, errors).map(([name, text]): [string, string] => [`ce_${name}`, text]);
  refuseUnsupported(sent, errors);
  return { plain, extensions, sent };
}

/** CloudEvents as the events of a request: one object, or a list. */
export const cloudEventsOf = (types: ReadonlyMap<string, string>): EventsReader => ({
  ...cloudEvents,
  parse: (sent) => parseCloudEvent(sent, types),
});

export const cloudEvents: EventsReader = {
  single(body) {
    if (typeof body !== 'object' || body === null || Array.isArray(body))
      throw refuse.badRequest('a CloudEvent is a JSON object');
    return body;
  },
  list: (body) => body,
  parse: (sent) => parseCloudEvent(sent),
  transactionId(sent) {
    const { source, id } = attributesOf(sent);
    return typeof source === 'string' && typeof id === 'string' ? joined(source, id) : null;
  },
};

const attributesOf = (input: unknown): Attributes =>
  typeof input === 'object' && input !== null && !Array.isArray(input) ? (input as Attributes) : {};

/** `source` and `id`, which together are unique; undefined with errors. A source without blanks keeps them apart. */
function transactionIdOf(sent: Attributes, errors: FieldErrors): string | undefined {
  const id = textOf(sent, 'id', errors, { isMandatory: true });
  const source = textOf(sent, 'source', errors, { isMandatory: true });
  if (source !== undefined && /\s/.test(source)) errors.source = [FORMAT];
  return source === undefined || id === undefined ? undefined : joined(source, id);
}

function joined(source: string, id: string): string {
  const text = `${source} ${id}`;
  return Buffer.byteLength(text) > KEY_MAX_BYTES ? `ce:${hash('sha256', text, 'hex')}` : text;
}

/** Text of an attribute; undefined if it is missing, null, empty or refused. */
function textOf(
  sent: Attributes,
  name: string,
  errors: FieldErrors,
  { isMandatory = false }: { isMandatory?: boolean } = {},
): string | undefined {
  const value = own(sent, name);
  const isMissing = value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
  if (isMissing) {
    if (isMandatory) errors[name] = [MANDATORY];
    return undefined;
  }
  if (typeof value !== 'string') errors[name] = [INVALID];
  else if (!isStorable(value)) errors[name] = [FORMAT];
  else return value;
  return undefined;
}

/** Epoch seconds of `time`, exact to the microsecond; digits beyond it are cut. */
function timestampOf(sent: Attributes, errors: FieldErrors): string | undefined {
  const value = own(sent, 'time');
  if (value === undefined || value === null) return undefined;
  const match = typeof value === 'string' && value.length <= INSTANT_MAX ? RFC_3339.exec(value) : null;
  const micros = match ? microsOf(match[1]!, match[2] ?? '', match[3]!) : undefined;
  if (micros === undefined) errors.time = [FORMAT];
  return micros === undefined ? undefined : `${micros}e-6`;
}

/** Members of `data`, and each extension as a text under `ce_` and its name. */
function propertiesOf(
  sent: Attributes,
  extensions: CloudEnvelope['extensions'],
  errors: FieldErrors,
): object | undefined {
  const data = own(sent, 'data') ?? {};
  if (typeof data !== 'object' || Array.isArray(data) || isKeptNumber(data)) {
    errors.data = [FORMAT];
    return undefined;
  }
  if (extensions.length === 0) return data;
  for (const [name] of extensions) if (Object.hasOwn(data, name)) errors[name.slice('ce_'.length)] = [TAKEN];
  return { ...data, ...Object.fromEntries(extensions) };
}

function extensionsOf(sent: Attributes, errors: FieldErrors): [name: string, text: string][] {
  const names = Object.keys(sent).filter((name) => !ATTRIBUTES.has(name) && sent[name] !== null);
  if (names.length > EXTENSIONS_MAX) errors.extensions = [TOO_LONG];
  else if (!names.every((name) => EXTENSION_NAME.test(name))) errors.extensions = [FORMAT];
  if (errors.extensions) return [];
  return names.flatMap((name) => {
    const text = extensionText(sent[name]);
    if (text !== undefined && isStorable(text)) return [[name, text]];
    errors[name] = [text === undefined ? INVALID : FORMAT];
    return [];
  });
}

/** The text that a header would hold, so that both modes make one event; the standard knows these three types. */
function extensionText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'boolean' || Number.isSafeInteger(value) ? String(value) : undefined;
}

function refuseUnsupported(sent: Attributes, errors: FieldErrors): void {
  const version = own(sent, 'specversion') ?? undefined;
  if (version === undefined || version === '') errors.specversion = [MANDATORY];
  else if (version !== '1.0') errors.specversion = [UNSUPPORTED];
  const type = own(sent, 'datacontenttype') ?? undefined;
  if (type !== undefined && !(typeof type === 'string' && JSON_DATA.test(type))) errors.datacontenttype = [UNSUPPORTED];
  if ((own(sent, 'data_base64') ?? undefined) !== undefined) errors.data_base64 = [UNSUPPORTED];
}
