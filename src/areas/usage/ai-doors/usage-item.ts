import { type ExtractedUsage, extractUsage } from '../../../engine/ai/extract-usage.ts';
import { KINDS } from '../../../engine/ai/kinds.ts';
import { isKeptNumber } from '../../../engine/metrics/property-text.ts';
import { own } from '../../../engine/own.ts';
import type { ExternalSubscriptionId } from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import type { FieldErrors } from '../../../platform/refusal.ts';
import { FORMAT, INVALID, MANDATORY, TOO_LONG } from '../../../platform/schema/fields.ts';
import { KEY_MAX_BYTES } from '../../../platform/schema/sizes.ts';
import { isStorable } from '../../../platform/schema/storable.ts';
import type { AiMark, IncomingEvent } from '../events/incoming-event.ts';
import { parseEvent } from '../events/parse-event.ts';
import type { EventFault } from '../events/read-request.ts';
import { type CallPart, callProperties, RESERVED_NAMES } from './call-properties.ts';
import { type DoorSettings, EMITS, type Emit } from './door-settings.ts';
import { SUBJECT_KINDS, type Subject, type SubjectKind } from './subjects.ts';

const RESERVED = 'value_is_reserved';
const UNSUPPORTED = 'unsupported_value';
const BLANK = 'value_must_be_blank';
const HOLD_KEY_MAX = 255;
const PROPERTIES_MAX = 30;
const RESERVED_PREFIX = 'ai_';

/** One call as it travels to storage: its event, or one event a part. */
export interface UsageCall {
  events: IncomingEvent[];
  /** One event a part: they are stored together or not at all. */
  isOfKinds: boolean;
  unmapped: ExtractedUsage['unmapped'];
  /** The hold of budgets that it settles. Events without a subscription are of the hold's. */
  hold?: HoldName;
}

/** A hold by its id, or by the key of its caller. */
export type HoldName = { id: string } | { key: string };

export type UsageItem =
  | { call: UsageCall }
  | { fault: EventFault }
  /** A call that failed without using anything makes no event. */
  | { ignored: { transaction_id: string | null } };

export type Sent = Readonly<Record<string, unknown>>;

/** What is known beside an item: settings of its organization, and the subscription to which its subjects lead. */
export interface ItemFacts {
  settings: DoorSettings;
  /** Of the item's own subjects and keys. */
  subscription: ExternalSubscriptionId | undefined;
  /** ISO text of the time of reception. */
  at: string;
  /** Whether an item may name a hold that it settles, or is a settlement of one itself; without it it may not. */
  holds?: 'named' | 'given' | undefined;
}

/**
 * One `ai_usage` as it was sent becomes the event of its call. All its faults are found together. Rules:
 * ai-usage.md#input, ai-usage.md#the-event.
 */
export function readUsageItem(sent: Sent, { settings, subscription, at, holds }: ItemFacts): UsageItem {
  const errors: FieldErrors = {};
  const extraction = extractUsage(sent, at);
  const transactionId = own(sent, 'transaction_id') ?? undefined;
  if (!extraction.ok && 'isIgnored' in extraction) return { ignored: { transaction_id: textOf(transactionId) } };
  const usage = extraction.ok ? extraction.usage : undefined;
  if (!extraction.ok) Object.assign(errors, extraction.faults);
  const properties = propertiesOf(own(sent, 'properties'), errors);
  const emit = emitOf(own(sent, 'emit'), settings.emit, errors);
  subjectFault(own(sent, 'subject'), errors);
  const hold = holdOf(sent, holds, errors);
  const external = ownSubscription(sent) ?? subscription;
  const isOfHold = hold !== undefined || holds === 'given' || errors.hold_key || errors.svc_hold_id;
  if (external === undefined && !isOfHold) errors.external_subscription_id = [MANDATORY];
  const id = transactionId === undefined || transactionId === '' ? usage && idOf(usage) : transactionId;
  const plain = {
    transaction_id: id,
    external_subscription_id: external,
    code: own(sent, 'code') ?? settings.eventCode,
    timestamp: own(sent, 'timestamp'),
  };
  const events = usage
    ? eventsOf(usage, { plain, properties, emit }, errors)
    : faultsOf({ ...plain, transaction_id: id ?? 'unknown' }, errors);
  if (!usage || Object.keys(errors).length > 0) return { fault: { transaction_id: textOf(id), errors } };
  const call: UsageCall = { events, isOfKinds: emit === 'kinds', unmapped: usage.unmapped };
  if (hold) call.hold = hold;
  extracted.set(call, usage);
  return { call };
}

/** What calls were read from, in the process that read them: it does not travel with them. */
const extracted = new WeakMap<UsageCall, ExtractedUsage>();

/** What a call was made of; undefined where it came in a job. */
export const extractedOf = (call: UsageCall): ExtractedUsage | undefined => extracted.get(call);

/** The hold that an item names: by its id, else by its key. */
function holdOf(sent: Sent, holds: ItemFacts['holds'], errors: FieldErrors): HoldName | undefined {
  const [id, key] = ['svc_hold_id', 'hold_key'].map((field) => own(sent, field) ?? undefined);
  const isBlank = (value: unknown): boolean => value === undefined || value === '';
  const refuse = (code: string): void => {
    if (!isBlank(id)) errors.svc_hold_id = [code];
    if (!isBlank(key)) errors.hold_key = [code];
  };
  if (holds === undefined) refuse(UNSUPPORTED);
  else if (holds === 'given') refuse(BLANK);
  else if (!isBlank(id)) {
    if (typeof id === 'string' && isUuid(id)) return { id };
    errors.svc_hold_id = [INVALID];
  } else if (!isBlank(key)) {
    if (typeof key === 'string' && key.length <= HOLD_KEY_MAX && isStorable(key)) return { key };
    errors.hold_key = [typeof key === 'string' && key.length > HOLD_KEY_MAX ? TOO_LONG : INVALID];
  }
  return undefined;
}

/** The field itself; a blank one is none. */
function ownSubscription(sent: Sent): unknown {
  const value = own(sent, 'external_subscription_id');
  return value === null || (typeof value === 'string' && value.trim() === '') ? undefined : value;
}

const idOf = ({ provider, id }: ExtractedUsage): string | undefined => (id === null ? undefined : `${provider}:${id}`);

const textOf = (value: unknown): string | null =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : null;

/** Flat properties beside those of the call. */
function propertiesOf(sent: unknown, errors: FieldErrors): Record<string, unknown> {
  if (sent === undefined || sent === null || (Array.isArray(sent) && sent.length === 0)) return {};
  if (typeof sent !== 'object' || Array.isArray(sent) || isKeptNumber(sent)) {
    errors.properties = [INVALID];
    return {};
  }
  const entries = Object.entries(sent).filter(([, value]) => value !== null);
  if (entries.length > PROPERTIES_MAX) errors.properties = [TOO_LONG];
  else if (entries.some(([name]) => RESERVED_NAMES.has(name) || name.startsWith(RESERVED_PREFIX)))
    errors.properties = [RESERVED];
  else if (entries.some(([, value]) => typeof value === 'object' && !isKeptNumber(value)))
    errors.properties = [INVALID];
  return Object.fromEntries(entries);
}

function emitOf(sent: unknown, standard: Emit, errors: FieldErrors): Emit {
  if (sent === undefined || sent === null || sent === '') return standard;
  const emit = EMITS.find((each) => each === sent);
  if (emit === undefined) errors.emit = [INVALID];
  return emit ?? standard;
}

function eventsOf(
  usage: ExtractedUsage,
  { plain, properties, emit }: { plain: Record<string, unknown>; properties: Record<string, unknown>; emit: Emit },
  errors: FieldErrors,
): IncomingEvent[] {
  const { reportedCost, servedFromCache, parts } = usage;
  const ai: AiMark = {};
  if (reportedCost !== null) ai.reported_cost = reportedCost;
  if (servedFromCache) ai.served_from_cache = true;
  if (emit === 'call') return parsed({ ...plain, properties }, { ai, part: { usage } }, errors);
  const mark: AiMark = { ...ai, is_priced_by_plan: true };
  return KINDS.filter((kind) => parts[kind] !== undefined).flatMap((kind) => {
    const event = {
      ...plain,
      transaction_id: plain.transaction_id === undefined ? undefined : `${String(plain.transaction_id)}#${kind}`,
      code: typeof plain.code === 'string' ? `${plain.code}_tokens` : plain.code,
      properties,
    };
    return parsed(event, { ai: mark, part: { usage, kind } }, errors);
  });
}

function parsed(plain: object, { ai, part }: { ai: AiMark; part?: CallPart }, errors: FieldErrors): IncomingEvent[] {
  const event = parseEvent(plain, part && { write: (sent, most) => callProperties(sent as Sent, part, most) });
  if (event.ok) {
    event.event.ai = ai;
    return [event.event];
  }
  for (const [field, codes] of Object.entries(event.errors)) errors[field] ??= codes;
  return [];
}

/** What is wrong with the fields of an event whose usage could not be read. */
function faultsOf(plain: object, errors: FieldErrors): [] {
  parsed(plain, { ai: {} }, errors);
  return [];
}

/** Whether a value is a text that may name a subject. */
export const isKey = (text: unknown): text is string =>
  typeof text === 'string' && text.trim() !== '' && Buffer.byteLength(text) <= KEY_MAX_BYTES && isStorable(text);

function subjectFault(sent: unknown, errors: FieldErrors): void {
  if (sent === undefined || sent === null) return;
  if (typeof sent !== 'object' || Array.isArray(sent)) errors.subject = [INVALID];
  else {
    const { kind, value } = sent as { kind?: unknown; value?: unknown };
    if (!SUBJECT_KINDS.includes(kind as SubjectKind)) errors['subject.kind'] = [INVALID];
    if (!isKey(value)) errors['subject.value'] = [typeof value === 'string' ? FORMAT : INVALID];
  }
}

/** The subject that an item names; none if it is wrong. */
export function subjectsOf(sent: Sent): Subject[] {
  const subject = own(sent, 'subject');
  if (typeof subject !== 'object' || subject === null || Array.isArray(subject)) return [];
  const { kind, value } = subject as { kind?: unknown; value?: unknown };
  return SUBJECT_KINDS.includes(kind as SubjectKind) && isKey(value) ? [{ kind: kind as SubjectKind, value }] : [];
}

/** The text of the first of several names in a record, if it may be an external id. */
export function keyIn(record: unknown, names: readonly string[]): ExternalSubscriptionId | undefined {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) return undefined;
  for (const name of names) {
    const value = own(record as Sent, name);
    const text = typeof value === 'number' ? String(value) : value;
    if (isKey(text)) return text as ExternalSubscriptionId;
  }
  return undefined;
}
