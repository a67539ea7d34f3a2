import type { Context } from '../../platform/context.ts';
import { type Page, pageMeta } from '../../platform/lists/pagination.ts';
import { listBillableMetricsById } from '../billable-metrics/queries.ts';
import { type AlertRow, checkSubscription, countAlerts, getAlert, listAlerts } from './queries.ts';
import { alertView } from './view.ts';

type Reading = Pick<Context, 'db' | 'organizationId'>;

async function viewsOf({ db, organizationId }: Reading, alerts: readonly AlertRow[]) {
  const ids = alerts.flatMap(({ billable_metric_id }) => billable_metric_id ?? []);
  const metrics = ids.length === 0 ? [] : await listBillableMetricsById(db, organizationId, ids);
  const byId = new Map(metrics.map((metric) => [metric.id, metric]));
  return alerts.map((alert) => alertView(alert, byId.get(alert.billable_metric_id ?? ''), organizationId));
}

/** One alert as answers have it. */
export const showAlert = async (ctx: Reading, alert: AlertRow) => ({ alert: (await viewsOf(ctx, [alert]))[0]! });

/** Alerts of a page, with its meta. */
export const showAlerts = async (ctx: Reading, alerts: readonly AlertRow[], page: Page, total = alerts.length) => ({
  alerts: await viewsOf(ctx, alerts),
  meta: pageMeta(page, total),
});

/** @throws Refusal 404 subscription */
export async function listSubscriptionAlerts(
  ctx: Context,
  { external_id, query }: { external_id: string; query: Page },
) {
  await checkSubscription(ctx.db, ctx.organizationId, external_id);
  const owner = { external_subscription_id: external_id };
  const [alerts, total] = await Promise.all([
    listAlerts(ctx.db, ctx.organizationId, owner, query),
    countAlerts(ctx.db, ctx.organizationId, owner),
  ]);
  return showAlerts(ctx, alerts, query, total);
}

/** @throws Refusal 404 subscription, alert */
export async function showSubscriptionAlert(
  ctx: Context,
  { external_id, code }: { external_id: string; code: string },
) {
  await checkSubscription(ctx.db, ctx.organizationId, external_id);
  const owner = { external_subscription_id: external_id };
  return showAlert(ctx, await getAlert(ctx.db, ctx.organizationId, owner, code));
}
