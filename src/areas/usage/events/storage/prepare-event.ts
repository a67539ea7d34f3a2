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
import {
  type CallRating,
  calledModel,
  rateCall,
  ratedProperties,
  type UnpricedCall,
} from '../../event-rating/rate-properties.ts';
import type { AiMark, IncomingBatch, IncomingEvent } from '../incoming-event.ts';
import { canonicalText, parseProperties } from '../property-json.ts';
import { membersOf, type RatedCall, withRating } from '../rated-call.ts';
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
  /** What rating wrote into a call, where that is all that differs from what was sent. */
  rated: RatedCall | null;
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
    rated: null,
    rollup: null,
    buildingId: null,
    unpriced: null,
  };
  const rating =
    event.ai &&
    rate(prepared, event.ai, {
      catalog,
      books,
      isShownAsReceived: timestamp === (event.timestamp ?? batch.received_at) && present === null,
    });
  const metric = catalog.metrics.get(event.code);
  if (!metric) return prepared;
  let textOf = rating ? ratedText(event, rating) : undefined;
  if (metric.expression && metric.field_name !== null) {
    const properties = rating ? ratedProperties(propertiesOf(event), rating) : parseProperties(prepared.properties);
    const refusal = applyExpression(prepared, properties, { expression: metric.expression, field: metric.field_name });
    if (refusal) return refusal;
    textOf = undefined;
  }
  if (metric.live && !metric.live.raw.has(event.external_subscription_id))
    prepared.rollup = rollupOf(metric.live, prepared.properties, textOf);
  prepared.buildingId = metric.building?.id ?? null;
  return prepared;
}

type Properties = Readonly<Record<string, unknown>>;
/** Text of a property by its name; null: absent. */
type TextOf = (name: string) => string | null;

const textsOf =
  (properties: Properties): TextOf =>
  (name) =>
    propertyText(own(properties, name));

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

/** Names that rating may exchange. */
const NAMES: ReadonlySet<string> = new Set(['provider', 'model', 'provider_reported', 'model_reported']);

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
 * isShownAsReceived  its times are those that the ingress knows
 */
function rate(
  prepared: PreparedEvent,
  mark: AiMark,
  {
    catalog: { book: version },
    books,
    isShownAsReceived,
  }: { catalog: Catalog; books: Books; isShownAsReceived: boolean },
): CallRating {
  const properties = propertiesOf(prepared.event);
  const book = books.get(modelKey({ book: version, ...calledModel(properties) }));
  assert(book, 'the books of all calls were read before they are prepared');
  const rating = rateCall(properties, mark, { book, version, at: prepared.timestamp });
  const { amountCents, isRenamed } = rating;
  prepared.event = { ...prepared.event, precise_total_amount_cents: amountCents };
  if (isRenamed) prepared.properties = canonicalText(ratedProperties(properties, rating));
  else {
    const members = membersOf({ ...rating.written, ai_format: properties.ai_format });
    prepared.properties = withRating(prepared.event.properties, members);
    if (isShownAsReceived) prepared.rated = [members, amountCents];
  }
  prepared.unpriced = rating.unpriced;
  prepared.isChanged = true;
  return rating;
}

/** Text of a property of a rated call; all of them are written out only where rating wrote the one asked for. */
function ratedText(call: IncomingEvent, rating: CallRating): TextOf {
  const sent = propertiesOf(call);
  let all: Properties | undefined;
  return (name) => {
    if (!name.startsWith('ai_') && !(rating.isRenamed && NAMES.has(name))) return propertyText(own(sent, name));
    all ??= ratedProperties(sent, rating);
    return propertyText(own(all, name));
  };
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
  prepared.rated = null;
  return undefined;
}

/** @param known texts of properties that were parsed already */
function rollupOf(shape: LiveShape, json: string, known: TextOf | undefined): Rollup {
  const { property_names: names, field_name: field } = shape;
  if (names.length === 0 && field === null) return { shape, group: groupIn(shape, []), text: null, value: null };
  const textOf = known ?? textsOf(parseProperties(json));
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
