import type { Context } from '../../../platform/context.ts';
import { findRow, insertRow, updateRow } from '../../../platform/db/rows.ts';
import { newId } from '../../../platform/ids.ts';
import { announce } from '../../../platform/reactions.ts';
import { changedKeys } from '../../../platform/records/changes.ts';
import { refuse } from '../../../platform/refusal.ts';
import { refuseFaults } from '../../../platform/schema/faults.ts';
import { metricDeleted, metricFiltersChanged } from '../announcements.ts';
import { refreshShapes } from '../usage-shapes/commands.ts';
import { definitionFaults, definitionOf, frozenFaults, metricFiltersOf } from './definition.ts';
import {
  type BillableMetricRow,
  billableMetrics,
  declaredValues,
  isUsedByLivePlan,
  lockBillableMetricByCode,
} from './queries.ts';
import type { BillableMetricCreate, BillableMetricUpdate } from './schema.ts';
import { billableMetricView, countedBillableMetricView } from './view.ts';
import { markBillableMetricDeleted, replaceMetricFilters } from './writes.ts';

/**
 * Makes a billable metric. Events of its code that came earlier are counted from now on.
 *
 * @throws Refusal 403 feature_unavailable, for custom_agg
 * @throws Refusal 422 by field, billable-metrics.md#fields
 */
export async function createBillableMetric(ctx: Context, { body }: { body: BillableMetricCreate }) {
  refuseCustom(body);
  const definition = definitionOf(body);
  const { filters, faults } = metricFiltersOf(body.filters ?? []);
  const taken = await findRow(ctx, billableMetrics, definition.code);
  refuseFaults({ ...definitionFaults(definition), ...faults, ...(taken ? { code: ['value_already_exist'] } : {}) });

  const metric = { ...(await insertRow(ctx, billableMetrics, definition)), filters };
  if (filters.length > 0) await replaceMetricFilters(ctx, metric.id, { filters, now: ctx.now() });
  return record(ctx, 'created', metric);
}

/**
 * Changes a billable metric. While a live plan counts with it only name, description and filters may change. Removed
 * filter values leave the charge filters that use them.
 *
 * @throws Refusal 404 billable_metric
 * @throws Refusal 403 feature_unavailable, for custom_agg
 * @throws Refusal 422 by field; value_is_frozen
 */
export async function updateBillableMetric(ctx: Context, { code, body }: { code: string; body: BillableMetricUpdate }) {
  const stored = await lockBillableMetricByCode(ctx, code);
  refuseCustom(body);
  const definition = definitionOf(body, stored);
  const { filters, faults } = metricFiltersOf(body.filters ?? stored.filters);
  const isUsed = await isUsedByLivePlan(ctx, stored.id);
  const frozen = isUsed ? frozenFaults(stored, definition) : {};
  const namesake = definition.code === stored.code ? undefined : await findRow(ctx, billableMetrics, definition.code);
  refuseFaults({
    ...definitionFaults(definition),
    ...(namesake ? { code: ['value_already_exist'] } : {}),
    ...frozen,
    ...faults,
  });

  const metric = await updateRow(ctx, billableMetrics, stored, definition);
  if (body.filters) {
    await replaceMetricFilters(ctx, stored.id, { filters, now: ctx.now() });
    const declared = declaredValues({ filters });
    await announce(ctx, metricFiltersChanged, { billable_metric_id: stored.id, declared });
  }
  return record(ctx, 'updated', { ...metric, filters }, stored);
}

/**
 * Deletes a billable metric with the charges that count with it. Fees made with it stay; its events are marked deleted
 * afterwards. Rule: billable-metrics.md#update-and-delete.
 *
 * @throws Refusal 404 billable_metric
 */
export async function deleteBillableMetric(ctx: Context, { code }: { code: string }) {
  const metric = await lockBillableMetricByCode(ctx, code);
  await markBillableMetricDeleted(ctx, metric.id, ctx.now());
  await announce(ctx, metricDeleted, { billable_metric_id: metric.id });
  ctx.after({
    step: 'delete-metric-events',
    payload: { billable_metric_id: metric.id, code, before_event_id: newId() },
  });
  return record(ctx, 'deleted', metric);
}

// No foreign code runs in the process (everywhere.md#no-foreign-code).
function refuseCustom(body: BillableMetricUpdate): void {
  if (body.aggregation_type === 'custom_agg') throw refuse.forbidden('feature_unavailable');
}

async function record(
  ctx: Context,
  action: 'created' | 'updated' | 'deleted',
  metric: BillableMetricRow,
  before?: BillableMetricRow,
) {
  await refreshShapes(ctx, [metric.id]);
  const object = billableMetricView(metric);
  const type = `billable_metric.${action}`;
  const changes = before ? { changes: changedKeys(billableMetricView(before), object) } : {};
  ctx.record({
    activity: { type, resourceType: 'BillableMetric', resourceId: metric.id, object, ...changes },
    webhook: { type, objectType: 'billable_metric', objectId: metric.id, object },
  });
  return { billable_metric: countedBillableMetricView(metric) };
}
