import { present, seconds } from '../../../platform/schema/view.ts';
import type { BillableMetricRow } from './queries.ts';
import type { BillableMetricView } from './schema.ts';

/** A metric as the API shows it: its filters by key, their values sorted. */
export const billableMetricView = (metric: BillableMetricRow): BillableMetricView => ({
  svc_id: metric.id,
  name: metric.name,
  code: metric.code,
  description: metric.description,
  aggregation_type: metric.aggregation_type,
  recurring: metric.recurring,
  rounding_function: metric.rounding_function,
  rounding_precision: metric.rounding_precision,
  weighted_interval: metric.weighted_interval,
  ...present({ expression: metric.expression }),
  field_name: metric.field_name,
  created_at: seconds(metric.created_at),
  filters: metric.filters
    .map(({ key, values }) => ({ key, values: [...values].sort() }))
    .sort((a, b) => (a.key < b.key ? -1 : 1)),
});

/** With the three deprecated counters, as lists and writes show it. */
export const countedBillableMetricView = (metric: BillableMetricRow) => ({
  ...billableMetricView(metric),
  active_subscriptions_count: 0,
  draft_invoices_count: 0,
  plans_count: 0,
});
