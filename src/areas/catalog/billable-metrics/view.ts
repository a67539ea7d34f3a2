import { z } from 'zod';
import { PageMeta } from '../../../platform/lists/pagination.ts';
import { viewOf, viewSchema } from '../../../platform/schema/columns.ts';
import { type BillableMetricRow, billableMetrics } from './queries.ts';

const View = viewSchema(billableMetrics);
const CountedView = View.extend({
  active_subscriptions_count: z.literal(0),
  draft_invoices_count: z.literal(0),
  plans_count: z.literal(0),
});

export const BillableMetricEnvelope = z.object({ billable_metric: View });
export const CountedBillableMetricEnvelope = z.object({ billable_metric: CountedView });
export const BillableMetricList = z.object({ billable_metrics: z.array(CountedView), meta: PageMeta });

/** A metric as the API shows it. */
export const billableMetricView = (metric: BillableMetricRow) => viewOf(billableMetrics, metric);

/** With the three deprecated counters, always 0, as lists and writes show it. */
export const countedBillableMetricView = (metric: BillableMetricRow) => ({
  ...billableMetricView(metric),
  active_subscriptions_count: 0,
  draft_invoices_count: 0,
  plans_count: 0,
});
