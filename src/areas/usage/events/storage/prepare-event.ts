import { assert } from '../../../../engine/assert.ts';
import { evaluateExpression } from '../../../../engine/metrics/evaluate-expression.ts';
import type { Expression } from '../../../../engine/metrics/parse-expression.ts';
import { propertyText } from '../../../../engine/metrics/property-text.ts';
import { own } from '../../../../engine/own.ts';
import { type Refusal, refuse } from '../../../../platform/refusal.ts';
import { isStorable } from '../../../../platform/schema/storable.ts';
import { type AskedModel, type Books, modelKey } from '../../../catalog/model-books/model-books.ts';
import { meteredText } from '../../../catalog/usage-shapes/numeric-properties.ts';
import type { Catalog, KnownGroup, LiveShape } from '../../../catalog/usage-shapes/storing-catalog.ts';
import { groupHash } from '../../../catalog/usage-shapes/usage-shape.ts';
import { calledModel, rateProperties, type UnpricedCall } from '../../event-rating/rate-properties.ts';
import type { AiMark, IncomingBatch, IncomingEvent } from '../incoming-event.ts';
import { canonicalText, parseProperties } from '../property-json.ts';
import { unixSeconds } from '../timestamps.ts';

/** An event as it will be stored, with its place in the rollups. */
export interface PreparedEvent {
  event: IncomingEvent;
  /** ISO texts with microseconds. */
  timestamp: string;
  created_at: string;
  properties: string;
  /** Set if it is not stored as it was sent, so that the answer shows the stored event. */
  isChanged: boolean;
  rollup: Rollup | null;
  /** A shape in building that records the hour. */
  buildingId: string | null;
  /** A call that has no amount, for want of a price or of a part of its usage. */
  unpriced: UnpricedCall | null;
}

/** The bucket of an event in a live shape, apart from its hour. */
interface Rollup {
  shape: LiveShape;
  group: KnownGroup;
  /** Text of the metric's field; null: absent. */
  text: string | null;
  /** The same when it is a plain number. */
  value: string | null;
}

/**
 * Makes an event ready to be stored: default times, the metric's expression, its group and value in the live shape.
 *
 * present  the organization's time if it has a test clock; null for real time, the time of reception
 * books    of the models of calls that have to be rated
 *
 * @returns the prepared event, or the refusal of its expression (events.md#order-of-checks (3))
 */
export function prepareEvent(
  event: IncomingEvent,
  batch: IncomingBatch,
  catalog: Catalog,
  { present, books }: { present: string | null; books: Books },
): PreparedEvent | Refusal {
  const created_at = present ?? batch.received_at;
  const timestamp = event.timestamp ?? present ?? event.source_time ?? created_at;
  const prepared: PreparedEvent = {
    event,
    timestamp,
    created_at,
    properties: event.properties,
    isChanged: present !== null,
    rollup: null,
    buildingId: null,
    unpriced: null,
  };
  // Parsed once where it is needed at all.
  let parsed = event.ai && rateCall(prepared, event.ai, { catalog, books });
  const metric = catalog.metrics.get(event.code);
  if (!metric) return prepared;
  if (metric.expression && metric.field_name !== null) {
    parsed ??= parseProperties(prepared.properties);
    const refusal = applyExpression(prepared, parsed, { expression: metric.expression, field: metric.field_name });
    if (refusal) return refusal;
    parsed = undefined;
  }
  if (metric.live && !metric.live.raw.has(event.external_subscription_id))
    prepared.rollup = rollupOf(metric.live, prepared.properties, parsed);
  prepared.buildingId = metric.building?.id ?? null;
  return prepared;
}

type Properties = Readonly<Record<string, unknown>>;

/** Properties of calls that were parsed for their models, until their events are gone. */
const parsedCalls = new WeakMap<IncomingEvent, Properties>();

function propertiesOf(call: IncomingEvent): Properties {
  let properties = parsedCalls.get(call);
  if (!properties) {
    properties = parseProperties(call.properties);
    parsedCalls.set(call, properties);
  }
  return properties;
}

/** Models of the calls among events that have to be rated, each once. */
export function modelsToRate(batch: IncomingBatch, { book }: Catalog): AskedModel[] {
  const asked = new Map<string, AskedModel>();
  for (const event of batch.events) {
    if (event.ai === undefined) continue;
    const { provider, model } = calledModel(propertiesOf(event));
    const name = `${provider}\0${model}`;
    if (!asked.has(name)) asked.set(name, { book, provider, model });
  }
  return [...asked.values()];
}

/**
 * Writes what a call costs by the book into the event, and its amount. Rule: price-book.md#the-event.
 *
 * @returns the properties as they will be stored
 */
function rateCall(
  prepared: PreparedEvent,
  mark: AiMark,
  { catalog: { book: version }, books }: { catalog: Catalog; books: Books },
): Properties {
  const properties = propertiesOf(prepared.event);
  const book = books.get(modelKey({ book: version, ...calledModel(properties) }));
  assert(book, 'the books of all calls were read before they are prepared');
  const rated = rateProperties(properties, mark, { book, version, at: prepared.timestamp });
  prepared.event = { ...prepared.event, precise_total_amount_cents: rated.amountCents };
  prepared.properties = canonicalText(rated.properties);
  prepared.unpriced = rated.unpriced;
  prepared.isChanged = true;
  return rated.properties;
}

/** Writes the expression's value into the metric's field. */
function applyExpression(
  prepared: PreparedEvent,
  properties: Properties,
  { expression, field }: { expression: Expression; field: string },
): Refusal | undefined {
  const evaluated = evaluateExpression(expression, {
    code: prepared.event.code,
    timestamp: unixSeconds(prepared.timestamp),
    properties,
  });
  if (!evaluated.ok) return refuse.invalid({ expression: [`expression_evaluation_failed: ${evaluated.reason}`] });
  if (!isStorable(evaluated.value)) return refuse.invalid({ expression: ['invalid_format'] });
  prepared.properties = canonicalText({ ...properties, [field]: evaluated.value });
  prepared.isChanged = true;
  return undefined;
}

function rollupOf(shape: LiveShape, json: string, parsed: Properties | undefined): Rollup {
  const { property_names: names, field_name: field } = shape;
  if (names.length === 0 && field === null) return { shape, group: groupIn(shape, []), text: null, value: null };
  const properties = parsed ?? parseProperties(json);
  const textOf = (name: string) => propertyText(own(properties, name));
  const text = field === null ? null : textOf(field);
  return { shape, group: groupIn(shape, names.map(textOf)), text, value: meteredText(text) };
}

function groupIn(shape: LiveShape, texts: (string | null)[]): KnownGroup {
  const key = JSON.stringify(texts);
  let group = shape.groups.get(key);
  if (!group) {
    group = { key, hash: groupHash(texts), isStored: false };
    shape.groups.set(key, group);
  }
  return group;
}
