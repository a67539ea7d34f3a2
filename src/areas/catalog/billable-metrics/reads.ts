import type { Context } from '../../../platform/context.ts';
import { type Page, pageMeta } from '../../../platform/lists/pagination.ts';
import { countBillableMetrics, getBillableMetricByCode, listBillableMetrics } from './queries.ts';
import { billableMetricView, countedBillableMetricView } from './view.ts';

export async function listMetrics(ctx: Context, { query }: { query: Page }) {
  const [metrics, count] = await Promise.all([
    listBillableMetrics(ctx.db, ctx.organizationId, query),
    countBillableMetrics(ctx.db, ctx.organizationId),
  ]);
  return { billable_metrics: metrics.map(countedBillableMetricView), meta: pageMeta(query, count) };
}

/** @throws Refusal 404 billable_metric */
export async function showBillableMetric(ctx: Context, { code }: { code: string }) {
  return { billable_metric: billableMetricView(await getBillableMetricByCode(ctx.db, ctx.organizationId, code)) };
}
