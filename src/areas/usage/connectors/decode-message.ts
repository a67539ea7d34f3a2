import { own } from '../../../engine/own.ts';
import { canonicalJson } from '../../../platform/canonical-json.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { parseBody } from '../../../platform/json/parse-body.ts';
import { type FieldErrors, Refusal } from '../../../platform/refusal.ts';
import { MANDATORY } from '../../../platform/schema/fields.ts';
import type { IncomingEvent } from '../events/incoming-event.ts';
import { memberOf } from '../events/read-request.ts';
import { type DeadMessage, deadMessage, deadOfErrors } from './dead-message.ts';
import {
  type Envelope,
  envelopeOf,
  eventsIn,
  type FoundEvent,
  headersOfPart,
  headersOfReading,
  type MessageHeaders,
  ORGANIZATION_HEADER,
} from './message-envelope.ts';

/** How many bytes a message may have. */
export const MESSAGE_MAX_BYTES = 1024 * 1024;

export interface MessageSource {
  /** The connector's organization. */
  organizationId: OrganizationId;
  /** Time of the message at its source, ISO text in UTC with microseconds: the time of an event that has none. */
  sourceTime: string;
  /** Headers by name in lower case; none where the source has none. */
  headers?: MessageHeaders;
  /** Codes of events by the types of CloudEvents. */
  types?: ReadonlyMap<string, string> | undefined;
}

/** What can be tried again of an event: its message, or of an envelope with several the event as one of its own. */
export interface Sent {
  payload(): Uint8Array;
  /** Those that decide how the payload is read. */
  headers(): MessageHeaders;
}

/** An event of a message: ready to be stored, or put aside. */
export type DecodedEvent = ({ event: IncomingEvent } | { dead: DeadMessage }) & { sent: Sent };

const NO_HEADERS: MessageHeaders = {};

/**
 * Turns a message of a stream into its events, each checked as `POST /events` checks it. A bad event of an envelope is
 * put aside alone; a message that cannot be read is put aside whole. Never throws for what a producer may send.
 *
 *   {"events":[{"transaction_id":"a", …}, {"code":"calls"}]} → [{ event }, { dead: value_is_mandatory }]
 *
 * Rule: streams.md#messages.
 */
export function decodeMessage(bytes: Uint8Array, source: MessageSource): DecodedEvent[] {
  const { headers = NO_HEADERS, types } = source;
  const sent = wholeMessage(bytes, headers);
  const dead = (is: DeadMessage): DecodedEvent[] => [{ dead: is, sent }];
  if (bytes.length > MESSAGE_MAX_BYTES)
    return dead(deadMessage('payload_too_large', `a message has at most ${MESSAGE_MAX_BYTES} bytes`, bytes));
  if (isOfAnother(own(headers, ORGANIZATION_HEADER), source)) return dead(mismatch(bytes));
  const envelope = envelopeOf(headers);
  if (envelope === undefined) return dead(deadMessage('unsupported_format', 'content-type: unsupported_value', bytes));
  const read = readValue(bytes, envelope);
  if ('dead' in read) return dead(read.dead);
  // In binary mode the value is the event's data, whose fields mean what their producer likes.
  if (envelope !== 'binary' && isOfAnother(memberOf(read.value, 'organization_id'), source))
    return dead(mismatch(bytes));
  const found = eventsIn(read.value, envelope, { headers, types });
  if (typeof found === 'string') return dead(deadMessage('invalid_event', found, bytes));
  return found.map((each) => decodedEvent(each, source, found.length === 1 ? sent : partOf(each, envelope)));
}

/** A message as it came. */
export const wholeMessage = (bytes: Uint8Array, headers: MessageHeaders): Sent => ({
  payload: () => bytes,
  headers: () => headersOfReading(headers),
});

const partOf = ({ sent }: FoundEvent, envelope: Envelope): Sent => ({
  payload: () => Buffer.from(canonicalJson(sent)),
  headers: () => headersOfPart(envelope),
});

function decodedEvent(found: FoundEvent, source: MessageSource, sent: Sent): DecodedEvent {
  if (isOfAnother(memberOf(found.sent, 'organization_id'), source)) return { dead: mismatch(sent.payload()), sent };
  const parsed = found.parse();
  const errors: FieldErrors = parsed.ok ? {} : { ...parsed.errors };
  // Over HTTP the sender sees what became of an event; in a stream nobody would miss the subscription.
  if (isBlank(memberOf(found.sent, found.subscriptionField))) errors[found.subscriptionField] ??= [MANDATORY];
  if (!parsed.ok || Object.keys(errors).length > 0) return { dead: deadOfErrors(errors, sent.payload()), sent };
  return { event: { ...parsed.event, source_time: source.sourceTime }, sent };
}

/** The value of a message with all digits of its numbers. */
function readValue(bytes: Uint8Array, envelope: Envelope): { value: unknown } | { dead: DeadMessage } {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return { dead: deadMessage('invalid_json', 'a message is UTF-8', bytes) };
  }
  try {
    return { value: parseBody(text, { keepLiterals: true, pathBefore: envelope === 'binary' ? ['data'] : [] }) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { dead: unreadable(error, bytes) };
  }
}

function unreadable({ status, body }: Refusal, bytes: Uint8Array): DeadMessage {
  if (status === 413) return deadMessage('payload_too_large', 'a message has at most 100 000 values', bytes);
  if (status === 422) return deadOfErrors(body.error_details as FieldErrors, bytes);
  return deadMessage('invalid_json', 'a message is JSON, nested at most 64 levels deep', bytes);
}

const isBlank = (sent: unknown): boolean =>
  sent === undefined || sent === null || (typeof sent === 'string' && sent.trim() === '');

const isOfAnother = (named: unknown, { organizationId }: MessageSource): boolean =>
  named !== undefined && named !== null && !(typeof named === 'string' && named.toLowerCase() === organizationId);

const mismatch = (payload: Uint8Array): DeadMessage =>
  deadMessage('organization_mismatch', 'organization_id is not that of the connector', payload);
