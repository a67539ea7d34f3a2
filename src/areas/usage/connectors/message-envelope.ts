import { own } from '../../../engine/own.ts';
import { parseCloudEvent } from '../events/cloud-event.ts';
import { type ParsedEvent, parseEvent } from '../events/parse-event.ts';
import { memberOf } from '../events/read-request.ts';
import { unixSecondsOf } from './iso-timestamp.ts';

/** How many events one message may hold. */
const EVENTS_MAX = 1000;
const STRUCTURED_TYPE = /^application\/cloudevents\+json\s*(?:;|$)/i;
const LIST_TYPE = /^application\/cloudevents-batch\+json\s*(?:;|$)/i;
const CLOUD_TYPE = /^application\/cloudevents/i;
const JSON_TYPE = /^[^/;\s]+\/(?:[^/;\s]+\+)?json\s*(?:;|$)/i;
/** Headers of a CloudEvent in binary mode, as its binding for Kafka names them. */
const ATTRIBUTE_PREFIX = 'ce_';
const TYPE_HEADER = 'content-type';
/** The header that names the organization for which a message was written, in internal form. */
export const ORGANIZATION_HEADER = 'svc-organization-id';

/** Headers of a message by name in lower case. */
export type MessageHeaders = Readonly<Record<string, string>>;

/** How the value of a message holds its events. */
export type Envelope = 'json' | 'structured' | 'structured_list' | 'binary';

/** An event found in a message. */
export interface FoundEvent {
  sent: unknown;
  /** Its field that names the subscription. */
  subscriptionField: 'external_subscription_id' | 'subject';
  /** Checks it as the same event is checked over HTTP. */
  parse(): ParsedEvent;
}

/** The envelope that the headers tell; undefined if they name no format that is known. Rule: streams.md#envelopes. */
export function envelopeOf(headers: MessageHeaders): Envelope | undefined {
  const type = own(headers, TYPE_HEADER) ?? '';
  if (STRUCTURED_TYPE.test(type)) return 'structured';
  if (LIST_TYPE.test(type)) return 'structured_list';
  if (CLOUD_TYPE.test(type) || (type.trim() !== '' && !JSON_TYPE.test(type))) return undefined;
  return own(headers, `${ATTRIBUTE_PREFIX}specversion`) === undefined ? 'json' : 'binary';
}

/** Of the headers of a message those that decide how it is read; producers may send any number of others. */
export const headersOfReading = (headers: MessageHeaders): MessageHeaders =>
  Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => name === TYPE_HEADER || name === ORGANIZATION_HEADER || name.startsWith(ATTRIBUTE_PREFIX),
    ),
  );

/** The same for one event of an envelope with several, as a message of its own. */
export const headersOfPart = (envelope: Envelope): MessageHeaders =>
  envelope === 'structured_list' ? { [TYPE_HEADER]: 'application/cloudevents+json' } : {};

/**
 * The events in the value of a message, or what is wrong with the envelope.
 *
 * types  codes of events by the types of CloudEvents
 *
 * Rule: streams.md#envelopes.
 */
export function eventsIn(
  value: unknown,
  envelope: Envelope,
  { headers, types }: { headers: MessageHeaders; types?: ReadonlyMap<string, string> | undefined },
): FoundEvent[] | string {
  const cloudEvent = (sent: unknown): FoundEvent => ({
    sent,
    subscriptionField: 'subject',
    parse: () => parseCloudEvent(sent, types),
  });
  if (envelope === 'structured_list') return listed(value, cloudEvent);
  if (envelope === 'binary') return [cloudEvent({ ...attributesOf(headers), data: value })];
  if (!isObject(value)) return 'a message is a JSON object';
  if (envelope === 'structured' || isCloudEvent(value)) return [cloudEvent(value)];
  const event = memberOf(value, 'event');
  if (isObject(event)) return [plainEvent(event)];
  if (memberOf(value, 'events') !== undefined && memberOf(value, 'transaction_id') === undefined)
    return listed(memberOf(value, 'events'), plainEvent);
  return [plainEvent(value)];
}

function listed(value: unknown, found: (sent: unknown) => FoundEvent): FoundEvent[] | string {
  if (!Array.isArray(value) || value.length === 0) return 'events: no_events';
  return value.length > EVENTS_MAX ? 'events: too_many_events' : value.map(found);
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

// No attribute of the standard has an underscore in its name.
const isCloudEvent = (value: object): boolean =>
  memberOf(value, 'specversion') !== undefined && memberOf(value, 'transaction_id') === undefined;

const plainEvent = (sent: unknown): FoundEvent => ({
  sent,
  subscriptionField: 'external_subscription_id',
  parse: () => parseEvent(isObject(sent) ? { ...sent, timestamp: unixSecondsOf(memberOf(sent, 'timestamp')) } : sent),
});

function attributesOf(headers: MessageHeaders): object {
  const sent = Object.entries(headers).filter(([name]) => name.startsWith(ATTRIBUTE_PREFIX));
  const attributes = Object.fromEntries(sent.map(([name, value]) => [name.slice(ATTRIBUTE_PREFIX.length), value]));
  const type = own(headers, TYPE_HEADER);
  return type === undefined ? attributes : { ...attributes, datacontenttype: type };
}
