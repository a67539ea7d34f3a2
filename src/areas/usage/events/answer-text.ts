import { type FieldErrors, Refusal, refuse } from '../../../platform/refusal.ts';
import { CLOUD_FIELDS, placesOfEvent } from './error-places.ts';
import { type IncomingBatch, type IncomingEvent, isAccepted, type Verdict } from './incoming-event.ts';
import { withRating } from './rated-call.ts';
import type { EventsInput } from './read-request.ts';
import { eventText } from './view.ts';

const TAKEN: FieldErrors = { transaction_id: ['value_already_exist'] };

/**
 * Body of the answer to a request's events, and whether every one of them had been stored before. With explanations it
 * has `verdict` or `verdicts`, and for a tolerant batch the result of each event.
 *
 * @throws Refusal when the verdicts refuse the request: 422 keyed by index for a batch, 405 while the test clock
 *   advances
 */
export function answerText(input: EventsInput, verdicts: readonly Verdict[]): { text: string; isReplayed: boolean } {
  const { form, batch } = input;
  throwUnlessStorable(verdicts);
  if (form === 'tolerant') return { text: tolerantText(input, verdicts), isReplayed: false };
  throwRefused(form, verdicts);
  const isReplayed = verdicts.every((verdict) => typeof verdict === 'object' && 'r' in verdict);
  let text = '';
  for (const [index, event] of batch.events.entries()) {
    const shown = shownText(event, batch, verdicts[index] ?? 0);
    text = index === 0 ? shown : `${text},${shown}`;
  }
  if (form === 'single') return { text: `{"event":${text}${explanations('verdict', batch, verdicts)}}`, isReplayed };
  return { text: `{"events":[${text}]${explanations('verdicts', batch, verdicts)}}`, isReplayed };
}

/** Why an event was not stored; undefined if it was. */
export const errorsOf = (verdict: Verdict): FieldErrors | undefined =>
  verdict === 1
    ? TAKEN
    : typeof verdict === 'object' && 'e' in verdict
      ? (verdict.e.body.error_details as FieldErrors)
      : undefined;

/**
 * Throws the refusal of a whole request and ignores those of single events.
 *
 * @throws Refusal of the whole request: 405 test_clock_advancing
 */
export function throwUnlessStorable(verdicts: readonly Verdict[]): void {
  for (const verdict of verdicts)
    if (typeof verdict === 'object' && 'e' in verdict && verdict.e.status !== 422) throw refusalOf(verdict.e);
}

function tolerantText({ batch, faults, isOfCloudEvents }: EventsInput, verdicts: readonly Verdict[]): string {
  const counts = { stored: 0, replayed: 0, rejected: 0 };
  let position = 0;
  const results = faults.map((fault, index) => {
    const place = position;
    if (fault === null) position += 1;
    const verdict = verdicts[place];
    const error_details = fault?.errors ?? errorsOf(verdict!);
    const transaction_id = fault === null ? batch.events[place]!.transaction_id : fault.transaction_id;
    const status = error_details ? 'rejected' : typeof verdict === 'object' && 'r' in verdict ? 'replayed' : 'stored';
    counts[status] += 1;
    const places = error_details ? placesOf(error_details, index, isOfCloudEvents) : [];
    return {
      index,
      transaction_id,
      status,
      ...(error_details ? { error_details } : {}),
      ...(places.length > 0 ? { error_places: places } : {}),
    };
  });
  const stored = batch.events.flatMap((event, index) =>
    isAccepted(verdicts[index]!) ? [shownText(event, batch, verdicts[index]!)] : [],
  );
  const told = `"results":${JSON.stringify(results)},"counts":${JSON.stringify(counts)}`;
  return `{"events":[${stored.join(',')}]${explanations('verdicts', batch, verdicts)},${told}}`;
}

const placesOf = (errors: FieldErrors, index: number, isOfCloudEvents = false) =>
  isOfCloudEvents ? placesOfEvent(errors, [index], CLOUD_FIELDS) : placesOfEvent(errors, ['events', index]);

/** JSON text of an event as it is stored. */
export function shownText(event: IncomingEvent, batch: Pick<IncomingBatch, 'received_at'>, verdict: Verdict): string {
  if (typeof verdict === 'object' && 'r' in verdict) return verdict.r;
  if (typeof verdict === 'object' && 's' in verdict) return verdict.s;
  const shown = { ...event, timestamp: event.timestamp ?? batch.received_at, created_at: batch.received_at };
  if (typeof verdict === 'object' && 'c' in verdict) {
    shown.properties = withRating(event.properties, verdict.c[0]);
    shown.precise_total_amount_cents = verdict.c[1];
  }
  return eventText(shown);
}

/** Member of the answer's body with the explanations; empty if none were requested. */
function explanations(root: 'verdict' | 'verdicts', batch: IncomingBatch, verdicts: readonly Verdict[]): string {
  if (batch.explain === undefined) return '';
  const told = verdicts.flatMap((verdict) => (typeof verdict === 'object' && 'x' in verdict ? [verdict.x] : []));
  return `,"${root}":${JSON.stringify(root === 'verdict' ? told[0] : told)}`;
}

function throwRefused(form: 'single' | 'batch', verdicts: readonly Verdict[]): void {
  const errors: FieldErrors = {};
  for (const [index, verdict] of verdicts.entries()) {
    const own = errorsOf(verdict);
    if (own !== undefined) errors[index] = own;
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
