import { AmountOutOfRange } from '../../../engine/money/cents.ts';
import type { Context } from '../../../platform/context.ts';
import type { SubscriptionId } from '../../../platform/ids.ts';
import { listBillableMetricsById } from '../../catalog/billable-metrics/queries.ts';
import { listApplicableThresholds } from '../../catalog/usage-thresholds/queries.ts';
import { dropMarks, listMarks } from '../../catalog/usage-thresholds/usage-marks.ts';
import { evaluateAlert } from '../../credits/evaluate-alerts/evaluate-alert.ts';
import { lockAlerts } from '../../credits/evaluate-alerts/queries.ts';
import { getShown } from '../../subscriptions/subscriptions/queries.ts';
import { wholeUsageOf } from '../../usage/usage/subscription-usage.ts';
import { BILL_PROGRESSIVELY } from '../bill-progressively/bill-progressively.ts';
import { passedByUsage } from '../bill-progressively/passed-by-usage.ts';
import { alertFigures } from './alert-figures.ts';

/**
 * Works off the marks of a subscription: compares its alerts with its usage, and when thresholds are passed owes the
 * progressive invoice. Marks set meanwhile stay for the next run. Without marks it does nothing, so that a second nudge
 * is cheap.
 *
 * Rules: events.md#after-storing (2), progressive-billing.md#trigger, alerts.md#usage-alerts, alerts.md#evaluation.
 */
export async function watchUsage(ctx: Context, subscriptionId: SubscriptionId): Promise<void> {
  const marks = await listMarks(ctx, subscriptionId);
  if (marks.length === 0) return;
  try {
    await compare(ctx, subscriptionId);
  } catch (error) {
    // Usage that overflows an amount would fail every time; the invoice reports it.
    if (!(error instanceof AmountOutOfRange)) throw error;
    ctx.log.warn({ subscriptionId, err: error }, 'usage not compared');
  }
  await dropMarks(
    ctx,
    marks.map(({ id }) => id),
  );
}

async function compare(ctx: Context, subscriptionId: SubscriptionId): Promise<void> {
  const subscription = await getShown(ctx, subscriptionId);
  if (subscription.status !== 'active') return;
  // Locked before usage is counted, so that later counts are also compared later.
  const alerts = await lockAlerts(ctx, { external_subscription_id: subscription.external_id });
  const thresholds = await listApplicableThresholds(ctx, subscription.id);
  if (alerts.length === 0 && thresholds.length === 0) return;
  const usage = await wholeUsageOf(ctx, subscription, ctx.now());

  const metrics = await listBillableMetricsById(
    ctx,
    alerts.flatMap(({ billable_metric_id }) => billable_metric_id ?? []),
  );
  const codeOf = new Map(metrics.map(({ id, code }) => [id, code]));
  const figures = await alertFigures(ctx, subscription, usage, alerts);
  for (const alert of alerts) {
    const figure = figures.get(alert.id);
    if (figure === undefined) continue;
    await evaluateAlert(ctx, alert, figure, {
      subscription_id: subscription.id,
      customer_id: subscription.customer_id,
      external_customer_id: subscription.external_customer_id,
      billable_metric_code: codeOf.get(alert.billable_metric_id ?? '') ?? null,
    });
  }

  const { passed } = await passedByUsage(ctx, subscription, thresholds, usage);
  if (passed.length > 0) ctx.after({ step: BILL_PROGRESSIVELY, payload: { subscription_id: subscription.id } });
}
