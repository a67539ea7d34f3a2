import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { type Page, pageMeta } from '../../../platform/lists/pagination.ts';
import { listBillableMetricsById } from '../../catalog/billable-metrics/queries.ts';
import { type AlertRow, countAlerts, getAlert, listAlerts } from '../evaluate-alerts/queries.ts';
import { alertView } from '../evaluate-alerts/view.ts';
import { type AlertPlace, findTarget } from './alerted-subscription-or-wallet.ts';

async function viewsOf(ctx: Scope, alerts: readonly AlertRow[]) {
  const ids = alerts.flatMap(({ billable_metric_id }) => billable_metric_id ?? []);
  const metrics = ids.length === 0 ? [] : await listBillableMetricsById(ctx, ids);
  const byId = new Map(metrics.map((metric) => [metric.id, metric]));
  return alerts.map((alert) => alertView(alert, byId.get(alert.billable_metric_id ?? ''), ctx.organizationId));
}

/** One alert as answers have it. */
export const showAlert = async (ctx: Scope, alert: AlertRow) => ({ alert: (await viewsOf(ctx, [alert]))[0]! });

/** Alerts of a page, with its meta. */
export const showAlerts = async (ctx: Scope, alerts: readonly AlertRow[], page: Page, total = alerts.length) => ({
  alerts: await viewsOf(ctx, alerts),
  meta: pageMeta(page, total),
});

/** @throws Refusal 404 subscription, customer, wallet */
export async function listAllAlerts(ctx: Context, { query, ...place }: AlertPlace & { query: Page }) {
  const { owner } = await findTarget(ctx, place);
  const [alerts, total] = await Promise.all([listAlerts(ctx, owner, query), countAlerts(ctx, owner)]);
  return showAlerts(ctx, alerts, query, total);
}

/** @throws Refusal 404 subscription, customer, wallet, alert */
export async function showOneAlert(ctx: Context, { code, ...place }: AlertPlace & { code: string }) {
  const { owner } = await findTarget(ctx, place);
  return showAlert(ctx, await getAlert(ctx, owner, code));
}
