import { own } from '../../../engine/own.ts';
import { booleanFilter } from '../../../platform/lists/filters.ts';
import { type FieldErrors, refuse } from '../../../platform/refusal.ts';
import { INVALID } from '../../../platform/schema/fields.ts';
import type { Pause } from '../../../platform/turns/turns.ts';
import { BATCH_PROPERTIES_MAX, type EventLimits, listOfEvents, mostEvents } from './batch-limits.ts';
import type { IncomingBatch, IncomingEvent } from './incoming-event.ts';
import { type ParsedEvent, parseEvent } from './parse-event.ts';

/** Forms of sending events: `{event}`, `{events: […]}` all or nothing, and the same list with each event for itself. */
export type EventsForm = 'single' | 'batch' | 'tolerant';

/** A request's events as they travel to the worker that stores them. */
export interface EventsInput {
  form: EventsForm;
  batch: IncomingBatch;
  /** They came as CloudEvents, whose attributes errors name. */
  isOfCloudEvents?: true;
  /** For a tolerant batch in the order sent: events refused at the door, null for the events of `batch`. */
  faults: (EventFault | null)[];
}

export interface EventFault {
  transaction_id: string | null;
  errors: FieldErrors;
}

/** Where the events of a body are, and how one is checked. */
export interface EventsReader {
  /** The event of a body with one. @throws Refusal 400 */
  single(body: unknown): unknown;
  list(body: unknown): unknown;
  parse(sent: unknown): ParsedEvent;
  /** Transaction id of a refused event as text; null if it has none. */
  transactionId(sent: unknown): string | null;
}

/**
 * Reads the events of a request's body, each checked and with an id. Checks 1, 2, 4, 5 of events.md#order-of-checks,
 * rules of events.md#batch and bulk-events.md#tolerant-batch; expressions and uniqueness are left to storage.
 *
 * sender organization and key of the sender, and the time of reception
 * pause   called between two events of a list
 * reader  of another form than our own
 *
 * @throws Refusal 400 without the root of a single event, 413 of canonical properties beyond 5 MiB, 422 otherwise
 */
export async function readEvents(
  form: EventsForm,
  body: unknown,
  { limits, sender, pause, reader = PLAIN }: ReadOptions,
): Promise<EventsInput> {
  if (form === 'single')
    return { form, batch: { ...sender, atomic: true, events: [readSingle(reader, body)] }, faults: [] };
  const parsed = await parseInTurns(reader, listOfEvents(reader.list(body), mostEvents(form, limits)), pause);
  const events = parsed.flatMap(({ read }) => (read.ok ? [read.event] : []));
  const faults = parsed.map(({ sent, read }) =>
    read.ok ? null : { transaction_id: reader.transactionId(sent), errors: read.errors },
  );
  if (form === 'batch' && events.length < parsed.length)
    throw refuse.invalid(Object.fromEntries(faults.flatMap((fault, n) => (fault === null ? [] : [[n, fault.errors]]))));
  return { form, batch: { ...sender, atomic: form === 'batch', events }, faults };
}

interface ReadOptions {
  limits: EventLimits;
  sender: Omit<IncomingBatch, 'atomic' | 'events'>;
  pause?: Pause;
  reader?: EventsReader;
}

async function parseInTurns(
  reader: EventsReader,
  list: readonly unknown[],
  pause?: Pause,
): Promise<{ sent: unknown; read: ParsedEvent }[]> {
  const parsed: { sent: unknown; read: ParsedEvent }[] = [];
  let characters = 0;
  for (const sent of list) {
    await pause?.();
    const read = reader.parse(sent);
    parsed.push({ sent, read });
    if (read.ok) characters += read.event.properties.length;
    if (characters > BATCH_PROPERTIES_MAX) throw refuse.tooLarge();
  }
  return parsed;
}

/** The form of `POST /events/batch`. @throws Refusal 422 mode: value_is_invalid */
export function batchForm(query: Readonly<Record<string, unknown>>): EventsForm {
  const { mode } = query;
  if (mode === undefined || mode === '') return 'batch';
  if (mode !== 'tolerant') throw refuse.invalid({ mode: [INVALID] });
  return 'tolerant';
}

/**
 * Whether an explanation is requested, by the header or in the query (event-verdicts.md#verdict).
 *
 * @throws Refusal 422 explain unsupported_value, for `amount`: the share of an event in an amount is unknown
 * @throws Refusal 422 explain value_is_invalid, for what says neither yes nor no
 */
export function asksToExplain(header: unknown, query: Readonly<Record<string, unknown>>): boolean {
  if (query.explain === 'amount') throw refuse.invalid({ explain: ['unsupported_value'] });
  return [header, query.explain].map(saysYes).includes(true);
}

/** Blank or missing says no. */
function saysYes(sent: unknown): boolean {
  if (sent === undefined || sent === '') return false;
  const answer = booleanFilter.parse(sent);
  if (answer === undefined) throw refuse.invalid({ explain: [INVALID] });
  return answer;
}

/** The transaction id of a refused event as text; null if it has none. */
export function sentTransactionId(sent: unknown): string | null {
  const value = memberOf(sent, 'transaction_id');
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}

/** Our own form: the events under a root. */
const PLAIN: EventsReader = {
  single(body) {
    const sent = memberOf(body, 'event');
    if (typeof sent !== 'object' || sent === null || Array.isArray(sent) || Object.keys(sent).length === 0)
      throw refuse.missingRoot('event');
    return sent;
  },
  list: (body) => memberOf(body, 'events'),
  parse: (sent) => parseEvent(sent),
  transactionId: sentTransactionId,
};

function readSingle(reader: EventsReader, body: unknown): IncomingEvent {
  const parsed = reader.parse(reader.single(body));
  if (!parsed.ok) throw refuse.invalid(parsed.errors);
  return parsed.event;
}

/** A member of an object; undefined for anything else. */
export const memberOf = (body: unknown, key: string): unknown =>
  typeof body === 'object' && body !== null ? own(body as Record<string, unknown>, key) : undefined;
