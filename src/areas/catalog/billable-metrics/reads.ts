import type { Context } from '../../../platform/context.ts';
import { getRow } from '../../../platform/db/rows.ts';
import { listPage, newestFirst } from '../../../platform/lists/list-page.ts';
import { billableMetrics } from './queries.ts';
import type { BillableMetricListQuery } from './schema.ts';
import { billableMetricView, countedBillableMetricView } from './view.ts';

export async function listBillableMetrics(ctx: Context, { query }: { query: BillableMetricListQuery }) {
  const { rows, meta } = await listPage(ctx, billableMetrics, query, {
    order: newestFirst,
    searched: ['name', 'code'],
  });
  return { billable_metrics: rows.map(countedBillableMetricView), meta };
}

/** @throws Refusal 404 billable_metric */
export async function showBillableMetric(ctx: Context, { code }: { code: string }) {
  return { billable_metric: billableMetricView(await getRow(ctx, billableMetrics, code)) };
}
