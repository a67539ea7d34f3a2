import { type FieldErrors, refuse } from '../../../platform/refusal.ts';
import { errorsOf, shownText, throwUnlessStorable } from '../events/answer-text.ts';
import { callId } from '../events/call-id.ts';
import { placesOfEvent } from '../events/error-places.ts';
import { isAccepted, type Verdict } from '../events/incoming-event.ts';
import type { RatedCall } from '../events/rated-call.ts';
import type { UsageInput } from './read-usage.ts';
import { AI_USAGE_FIELDS } from './schema.ts';
import { extractedOf, type UsageCall, type UsageItem } from './usage-item.ts';
import { ratedViewText, type StoredCall, usageView } from './usage-view.ts';

/**
 * Body of the answer to a request's usage, and whether all of it had been stored before. `ai_usage` shows what is
 * stored, so a replay shows the first body. With explanations it has `verdict` or `verdicts`.
 *
 * verdicts  of the events of each item
 *
 * @throws Refusal when the verdicts refuse the request, as for events
 */
export function usageAnswer(
  input: UsageInput,
  verdicts: readonly (readonly Verdict[])[],
  currency: string,
): { text: string; isReplayed: boolean } {
  for (const own of verdicts) throwUnlessStorable(own);
  if (input.form === 'tolerant') return { text: tolerantText(input, verdicts, currency), isReplayed: false };
  throwRefused(input, (_, index) => faultsOf(verdicts[index]!));
  const calls = input.items.flatMap((item, index) =>
    'call' in item ? [shownCall(input, item.call, verdicts[index]!, currency)] : [],
  );
  const isReplayed = verdicts.flat().every(isReplay);
  const events = calls.flatMap((call) => call.events);
  const told = explanations(input, verdicts);
  if (input.form === 'batch')
    return { text: `{"events":[${events}],"ai_usages":[${calls.map(({ view }) => view)}]${told}}`, isReplayed };
  const [call] = calls;
  const root = input.items.some((item) => 'call' in item && item.call.isOfKinds)
    ? `"events":[${events}]`
    : `"event":${events[0]}`;
  return { text: `{${root},"ai_usage":${call!.view}${told}}`, isReplayed };
}

const isReplay = (verdict: Verdict): boolean => typeof verdict === 'object' && 'r' in verdict;

function shownCall(input: UsageInput, call: UsageCall, verdicts: readonly Verdict[], currency: string) {
  const events = call.events.map((event, index) => shownText(event, input.sender, verdicts[index]!));
  const shown = { currency, unmapped: call.unmapped };
  const rated = call.isOfKinds ? undefined : ratedNow(verdicts[0]!);
  const extracted = rated && extractedOf(call);
  if (extracted) return { events, view: ratedViewText(callId(call), extracted, { ...shown, rated }) };
  const stored = events.map((text) => JSON.parse(text) as StoredCall);
  return { events, view: JSON.stringify(usageView(callId(call), stored, shown)) };
}

/** What rating wrote into a call whose names are those that were read: nothing else of it has to be read again. */
const ratedNow = (verdict: Verdict): RatedCall | undefined =>
  typeof verdict === 'object' && 'c' in verdict ? verdict.c : undefined;

/** @throws Refusal 422 before anything is stored, where all calls of a request are stored together */
export const refuseFaults = (input: UsageInput): void =>
  throwRefused(input, (item) => {
    if ('ignored' in item) return { body: ['value_is_mandatory'] };
    return 'fault' in item ? item.fault.errors : undefined;
  });

/** @throws Refusal 422, keyed by index for a batch; none for calls that are stored each for itself */
function throwRefused(
  { form, items }: UsageInput,
  errorsAt: (item: UsageItem, index: number) => FieldErrors | undefined,
): void {
  if (form === 'tolerant') return;
  const wrong = items.flatMap((item, index) => {
    const errors = errorsAt(item, index);
    return errors === undefined ? [] : [[index, errors] as const];
  });
  if (wrong.length > 0) throw refuse.invalid(form === 'single' ? wrong[0]![1] : Object.fromEntries(wrong));
}

function faultsOf(verdicts: readonly Verdict[]): FieldErrors | undefined {
  for (const verdict of verdicts) {
    const errors = errorsOf(verdict);
    if (errors) return errors;
  }
  return undefined;
}

/** What became of an item of a tolerant request. */
interface Result {
  status: 'stored' | 'replayed' | 'rejected' | 'ignored';
  transaction_id: string | null;
  errors?: FieldErrors;
}

export function resultOf(item: UsageItem, verdicts: readonly Verdict[]): Result {
  if ('ignored' in item) return { status: 'ignored', ...item.ignored };
  if ('fault' in item) return { status: 'rejected', ...item.fault };
  const transaction_id = callId(item.call);
  const errors = faultsOf(verdicts);
  if (errors) return { status: 'rejected', transaction_id, errors };
  return { status: verdicts.every(isReplay) ? 'replayed' : 'stored', transaction_id };
}

/** Results and counts of a tolerant request, as JSON members. */
function resultsText(
  { items, isOfCloudEvents, isOfRecords }: UsageInput,
  verdicts: readonly (readonly Verdict[])[],
): string {
  const counts: Record<Result['status'], number> = { stored: 0, replayed: 0, rejected: 0, ignored: 0 };
  const results = items.map((item, index) => {
    const { status, transaction_id, errors } = resultOf(item, verdicts[index]!);
    counts[status] += 1;
    if (!errors) return { index, transaction_id, status };
    const places = isOfCloudEvents || isOfRecords ? [] : placesOfEvent(errors, ['ai_usages', index], AI_USAGE_FIELDS);
    const error_places = places.length > 0 ? { error_places: places } : {};
    return { index, transaction_id, status, error_details: errors, ...error_places };
  });
  return `"results":${JSON.stringify(results)},"counts":${JSON.stringify(counts)}`;
}

/** The answer to the records of another program: what became of each. */
export const recordsText = (input: UsageInput, verdicts: readonly (readonly Verdict[])[]): string =>
  `{${resultsText(input, verdicts)}${explanations(input, verdicts)}}`;

function tolerantText(input: UsageInput, verdicts: readonly (readonly Verdict[])[], currency: string): string {
  const calls = input.items.flatMap((item, index) => {
    const own = verdicts[index]!;
    return 'call' in item && own.every(isAccepted) ? [shownCall(input, item.call, own, currency)] : [];
  });
  const events = calls.flatMap((call) => call.events);
  const views = calls.map(({ view }) => view);
  return `{"events":[${events}],"ai_usages":[${views}]${explanations(input, verdicts)},${resultsText(input, verdicts)}}`;
}

/** Member of the answer's body with the explanations; empty if none were requested. */
function explanations({ sender, form }: UsageInput, verdicts: readonly (readonly Verdict[])[]): string {
  if (sender.explain === undefined) return '';
  const told = verdicts.flat().flatMap((verdict) => (typeof verdict === 'object' && 'x' in verdict ? [verdict.x] : []));
  return form === 'single' && told.length === 1
    ? `,"verdict":${JSON.stringify(told[0])}`
    : `,"verdicts":${JSON.stringify(told)}`;
}
