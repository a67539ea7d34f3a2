import { assert } from '../../../engine/assert.ts';
import { AGGREGATION_TRAITS } from '../../../engine/metrics/aggregation-types.ts';
import { evaluateExpression } from '../../../engine/metrics/evaluate-expression.ts';
import { parseExpression } from '../../../engine/metrics/parse-expression.ts';
import { propertyText } from '../../../engine/metrics/property-text.ts';
import { own } from '../../../engine/own.ts';
import type { Context } from '../../../platform/context.ts';
import { findRow } from '../../../platform/db/rows.ts';
import { refuse } from '../../../platform/refusal.ts';
import { isStorable } from '../../../platform/schema/storable.ts';
import { type BillableMetricRow, billableMetrics } from '../../catalog/billable-metrics/queries.ts';
import { readModels } from '../../catalog/model-books/read-models.ts';
import { getBookVersion } from '../../catalog/price-book/queries.ts';
import { meteredText } from '../../catalog/usage-shapes/numeric-properties.ts';
import { calledModel, rateProperties, type UnpricedCall } from '../event-rating/rate-properties.ts';
import { canonicalText, parseProperties } from '../events/property-json.ts';
import { unixSeconds } from '../events/timestamps.ts';
import { type EventPayload, type EventToCorrect, isOtherPayload } from './lock-events.ts';
import type { Amendment } from './schema.ts';

export type AmendmentWarning = 'property_missing' | 'property_not_numeric';

/**
 * The payload of an event after an amendment: absent fields stay, a call of a language model is rated from its new
 * parts unless it brings an amount, and the metric's expression is evaluated again.
 *
 * @returns the new payload, and a warning if the metric cannot count it; it is stored anyway, as at ingestion
 * @throws Refusal 422 expression; base: value_already_exist, when nothing changes
 * Rule: event-corrections.md#routes.
 */
export async function amendedPayload(
  ctx: Context,
  event: EventToCorrect,
  amendment: Amendment,
): Promise<{ payload: EventPayload & { unpriced: UnpricedCall | null }; warning: AmendmentWarning | null }> {
  const amount = amendment.precise_total_amount_cents;
  const payload: EventPayload = {
    timestamp: amendment.timestamp ?? event.timestamp,
    properties: amendment.properties ?? event.properties,
    precise_total_amount_cents: amount === undefined ? event.precise_total_amount_cents : amount,
  };
  const unpriced = amount === undefined ? await rateAgain(ctx, event, payload) : null;
  const metric = await findRow(ctx, billableMetrics, event.code);
  if (metric) payload.properties = withExpression(metric, event.code, payload);
  if (!(await isOtherPayload(ctx.db, event.id, payload))) throw refuse.invalid({ base: ['value_already_exist'] });
  return { payload: { ...payload, unpriced }, warning: metric ? warningOf(metric, payload) : null };
}

/**
 * Rates a call of a language model from its new parts, at its new time; other events stay.
 *
 * @returns the call if it has no amount then
 * Rule: price-book.md#healing.
 */
async function rateAgain(ctx: Context, event: EventToCorrect, payload: EventPayload): Promise<UnpricedCall | null> {
  const former = parseProperties(event.properties);
  const status = own(former, 'ai_status');
  if (status === undefined) return null;
  const { ai_dimensions: _, ...sent } = parseProperties(payload.properties);
  const dimensions = own(former, 'ai_dimensions');
  // It stays a call that was rated, among the sums that it was counted in.
  const properties = { ...sent, ai_status: status, ...(dimensions === undefined ? {} : { ai_dimensions: dimensions }) };
  const version = await getBookVersion(ctx);
  const [book] = await readModels(ctx.db, [{ book: version, ...calledModel(properties) }]);
  const mark = status === 'plan' ? { is_priced_by_plan: true as const } : {};
  const rated = rateProperties(properties, mark, { book: book!, version, at: payload.timestamp });
  payload.properties = canonicalText(rated.properties);
  payload.precise_total_amount_cents = rated.amountCents;
  return rated.unpriced;
}

function withExpression(
  metric: BillableMetricRow,
  code: string,
  { timestamp, properties: text }: EventPayload,
): string {
  if (metric.expression === null || metric.field_name === null) return text;
  const expression = parseExpression(metric.expression);
  assert(expression, 'a stored expression can be read');
  const properties = parseProperties(text);
  const evaluated = evaluateExpression(expression, { code, timestamp: unixSeconds(timestamp), properties });
  if (!evaluated.ok) throw refuse.invalid({ expression: [`expression_evaluation_failed: ${evaluated.reason}`] });
  if (!isStorable(evaluated.value)) throw refuse.invalid({ expression: ['invalid_format'] });
  return canonicalText({ ...properties, [metric.field_name]: evaluated.value });
}

function warningOf(metric: BillableMetricRow, payload: EventPayload): AmendmentWarning | null {
  const traits = AGGREGATION_TRAITS[metric.aggregation_type];
  if (!traits.needsField || metric.field_name === null) return null;
  const properties = parseProperties(payload.properties);
  const value = propertyText(own(properties, metric.field_name));
  if (value === null) return 'property_missing';
  return traits.needsNumber && meteredText(value) === null ? 'property_not_numeric' : null;
}
