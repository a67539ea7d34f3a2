import { formatOf } from '../../../engine/ai/formats/formats.ts';
import { usageIn } from '../../../engine/ai/usage-object.ts';
import { isKeptNumber, KeptNumber } from '../../../engine/metrics/property-text.ts';
import { refuse } from '../../../platform/refusal.ts';
import { memberOf } from '../events/read-request.ts';
import type { SentItem } from './read-usage.ts';
import type { Subject, SubjectKind } from './subjects.ts';
import { isKey } from './usage-item.ts';

/** Spans or log records that one request may hold. */
const MOST_RECORDS = 10_000;
/** Operations that call a model; others repeat the tokens of the calls within them. */
const CALLING = new Set(['chat', 'text_completion', 'generate_content', 'embeddings']);
const CLIENT_KINDS: readonly unknown[] = [3, 'SPAN_KIND_CLIENT'];
const OPERATION = 'gen_ai.operation.name';
const ID = /^[0-9a-z+/=_-]+$/i;
/** An id of zeros says that there is none. */
const NO_ID = /^0*$/;
const DIGITS_OF_NANOS = 9;

const PROPERTY_NAMES: Readonly<Record<string, readonly string[]>> = {
  agent: ['gen_ai.agent.name'],
  session: ['gen_ai.conversation.id'],
  user: ['enduser.id', 'user.id'],
};
const SUBJECT_NAMES: readonly [SubjectKind, string][] = [
  ['end_user', 'enduser.id'],
  ['user', 'user.id'],
];

/** Where a request of a signal has its records. */
interface Signal {
  resources: string;
  scopes: string;
  records: string;
  /** Times of a record, the first that it has counts. */
  times: readonly string[];
  /** Whether a record without the name of an operation is a call if it is a client's. */
  hasKinds: boolean;
}

export const TRACES: Signal = {
  resources: 'resourceSpans',
  scopes: 'scopeSpans',
  records: 'spans',
  times: ['endTimeUnixNano'],
  hasKinds: true,
};
export const LOGS: Signal = {
  resources: 'resourceLogs',
  scopes: 'scopeLogs',
  records: 'logRecords',
  times: ['timeUnixNano', 'observedTimeUnixNano'],
  hasKinds: false,
};

/** A record that reports a call, and its place among all records of the request. */
export interface TelemetryItem {
  place: number;
  item: SentItem;
}

type Attributes = Readonly<Record<string, unknown>>;

/**
 * Calls of models among the spans or log records of a request in OTLP's JSON, in the order sent; all others are left
 * out. Rule: ai-usage.md#opentelemetry.
 *
 * at  ISO text of the instant by which the version of the names is chosen
 *
 * @throws Refusal 400 of what has another form, 413 of more than 10 000 records
 */
export function telemetryItems(signal: Signal, body: unknown, at: string): TelemetryItem[] {
  const format = formatOf('otel', at)!;
  const found: TelemetryItem[] = [];
  let place = 0;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw refuse.badRequest('no JSON object');
  for (const resource of listIn(body, signal.resources)) {
    let shared: Attributes | undefined;
    for (const scope of listIn(resource, signal.scopes))
      for (const record of listIn(scope, signal.records)) {
        if (place >= MOST_RECORDS) throw refuse.tooLarge();
        const attributes = attributesOf(record);
        if (isCall(record, attributes, signal) && usageIn(format, attributes)) {
          shared ??= attributesOf(memberOf(resource, 'resource'));
          found.push({ place, item: itemOf(record, { attributes, shared, signal }) });
        }
        place += 1;
      }
  }
  return found;
}

/** @throws Refusal 400 */
function listIn(record: object, name: string): object[] {
  const list = memberOf(record, name) ?? [];
  if (!Array.isArray(list)) throw refuse.badRequest(`${name} is no list`);
  for (const each of list)
    if (typeof each !== 'object' || each === null || Array.isArray(each))
      throw refuse.badRequest(`an element of ${name} is no object`);
  return list;
}

function isCall(record: object, attributes: Attributes, { hasKinds }: Signal): boolean {
  const operation = attributes[OPERATION];
  if (operation !== undefined) return typeof operation === 'string' && CALLING.has(operation);
  return hasKinds && CLIENT_KINDS.includes(memberOf(record, 'kind'));
}

function itemOf(
  record: object,
  { attributes, shared, signal }: { attributes: Attributes; shared: Attributes; signal: Signal },
): SentItem {
  const [trace, span] = [idIn(record, 'traceId'), idIn(record, 'spanId')];
  const properties = Object.fromEntries(
    Object.entries(PROPERTY_NAMES).map(([name, from]) => [
      name,
      from.map((each) => attributes[each]).find((value) => typeof value === 'string' && value.trim() !== '') ?? null,
    ]),
  );
  const subjects = SUBJECT_NAMES.flatMap(([kind, name]): Subject[] => {
    const value = attributes[name];
    return isKey(value) ? [{ kind, value }] : [];
  });
  return {
    sent: {
      format: 'otel',
      body: attributes,
      transaction_id: trace && span ? `otel:${trace}:${span}` : undefined,
      timestamp: timeOf(record, signal),
      properties,
    },
    subjects,
    records: [attributes, shared],
  };
}

function idIn(record: object, name: string): string | undefined {
  const id = memberOf(record, name);
  if (typeof id !== 'string' || NO_ID.test(id) || !ID.test(id)) return undefined;
  return /^[0-9a-f]+$/i.test(id) ? id.toLowerCase() : id;
}

/** Epoch seconds of nanoseconds; 0 says that there is no time. What is no number is left to be refused. */
function timeOf(record: object, { times }: Signal): unknown {
  for (const name of times) {
    const sent = memberOf(record, name);
    const text = isKeptNumber(sent) ? sent.value : typeof sent === 'number' ? String(sent) : sent;
    if (text === undefined || text === null || text === '' || text === '0') continue;
    if (typeof text !== 'string' || !/^\d{1,20}$/.test(text)) return 'no number';
    const digits = text.padStart(DIGITS_OF_NANOS + 1, '0');
    return `${digits.slice(0, -DIGITS_OF_NANOS)}.${digits.slice(-DIGITS_OF_NANOS)}`;
  }
  return undefined;
}

/** Attributes by their names: texts, numbers and booleans; of one sent twice the last counts. */
function attributesOf(record: unknown): Attributes {
  const attributes: Record<string, unknown> = Object.create(null);
  const list = memberOf(record, 'attributes');
  if (!Array.isArray(list)) return attributes;
  for (const each of list) {
    const key = memberOf(each, 'key');
    const value = scalarOf(memberOf(each, 'value'));
    if (typeof key === 'string' && value !== undefined) attributes[key] = value;
  }
  return attributes;
}

function scalarOf(value: unknown): unknown {
  const text = memberOf(value, 'stringValue');
  if (typeof text === 'string') return text;
  const whole = memberOf(value, 'intValue');
  // A text, because 64 bits do not fit into a number of JSON; exporters of JavaScript send a number.
  if (typeof whole === 'string') return /^-?\d{1,20}$/.test(whole) ? new KeptNumber(whole) : whole;
  return whole ?? memberOf(value, 'doubleValue') ?? memberOf(value, 'boolValue');
}
