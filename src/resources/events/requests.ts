import { type FieldErrors, Refusal, refuse } from '../../platform/refusal.ts';
import type { IncomingBatch, IncomingEvent, Verdict } from './incoming.ts';
import { parseEvent } from './parse-event.ts';
import { eventText } from './view.ts';

/** The two forms in which events are sent: `{event}` and `{events: […]}`. */
export type EventsForm = 'single' | 'batch';

/**
 * Events of a request's body, each checked and with an id. Checks 1, 2, 4, 5 of usage-and-charges A.4, rules of A.5;
 * expressions and uniqueness are left to storage.
 *
 * mostEvents  limit of a batch
 *
 * @throws Refusal 400 without the root of a single event, 422 otherwise
 */
export function readEvents(form: EventsForm, body: unknown, mostEvents = Number.POSITIVE_INFINITY): IncomingEvent[] {
  return form === 'single' ? [readSingle(body)] : readBatch(body, mostEvents);
}

function readSingle(body: unknown): IncomingEvent {
  const sent = memberOf(body, 'event');
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent) || Object.keys(sent).length === 0)
    throw refuse.missingRoot('event');
  const parsed = parseEvent(sent);
  if (!parsed.ok) throw refuse.invalid(parsed.errors);
  return parsed.event;
}

function readBatch(body: unknown, mostEvents: number): IncomingEvent[] {
  const sent = memberOf(body, 'events');
  if (!Array.isArray(sent) || sent.length === 0) throw refuse.invalid({ events: ['no_events'] });
  if (sent.length > mostEvents) throw refuse.invalid({ events: ['too_many_events'] });
  const events: IncomingEvent[] = [];
  const errors: FieldErrors = {};
  for (const [index, each] of sent.entries()) {
    const parsed = parseEvent(each);
    if (parsed.ok) events.push(parsed.event);
    else errors[index] = parsed.errors;
  }
  if (events.length < sent.length) throw refuse.invalid(errors);
  return events;
}

const memberOf = (body: unknown, key: string): unknown =>
  typeof body === 'object' && body !== null && Object.hasOwn(body, key)
    ? (body as Record<string, unknown>)[key]
    : undefined;

const TAKEN: FieldErrors = { transaction_id: ['value_already_exist'] };

/**
 * Body of the answer to stored events, and whether every one of them had been stored before.
 *
 * @throws Refusal when the verdicts refuse the request: 422 keyed by index for a batch, 405 while the test clock advances
 */
export function answerText(
  form: EventsForm,
  batch: IncomingBatch,
  verdicts: readonly Verdict[],
): { text: string; isReplayed: boolean } {
  throwRefused(form, verdicts);
  let isReplayed = true;
  let text = '';
  for (const [index, event] of batch.events.entries()) {
    const verdict = verdicts[index] ?? 0;
    if (typeof verdict !== 'object' || !('r' in verdict)) isReplayed = false;
    const shown = textOf(event, batch, verdict);
    text = index === 0 ? shown : `${text},${shown}`;
  }
  return { text: form === 'single' ? `{"event":${text}}` : `{"events":[${text}]}`, isReplayed };
}

function textOf(event: IncomingEvent, batch: IncomingBatch, verdict: Verdict): string {
  if (typeof verdict === 'object' && 'r' in verdict) return verdict.r;
  if (typeof verdict === 'object' && 's' in verdict) return verdict.s;
  return eventText({ ...event, timestamp: event.timestamp ?? batch.received_at, created_at: batch.received_at });
}

function throwRefused(form: EventsForm, verdicts: readonly Verdict[]): void {
  const errors: FieldErrors = {};
  for (const [index, verdict] of verdicts.entries()) {
    if (verdict === 0 || (verdict !== 1 && !('e' in verdict))) continue;
    if (verdict !== 1 && verdict.e.status !== 422) throw refusalOf(verdict.e);
    errors[index] = verdict === 1 ? TAKEN : verdict.e.body.error_details;
  }
  const [first] = Object.values(errors);
  if (first !== undefined) throw refuse.invalid(form === 'single' ? (first as FieldErrors) : errors);
}

function refusalOf({
  status,
  body: { status: _, ...body },
}: {
  status: number;
  body: Record<string, unknown>;
}): Refusal {
  return new Refusal(status, body);
}
