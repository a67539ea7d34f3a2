import type { SubscriptionAlertType } from '../../../engine/alerts/alert-types.ts';
import { type Decimal, decimal, max, ZERO } from '../../../engine/money/decimal.ts';
import type { UsageFee } from '../../../engine/pricing/usage-fee.ts';
import type { Context } from '../../../platform/context.ts';
import type { MetricId } from '../../../platform/ids.ts';
import type { AlertRow } from '../../credits/evaluate-alerts/queries.ts';
import type { SubscriptionShown } from '../../subscriptions/subscriptions/queries.ts';
import { lifetimeUsageOf } from '../../usage/lifetime-usage/lifetime-usage.ts';
import { amountOf, type ChargeUsage, usageOf, usagePeriod } from '../../usage/usage/subscription-usage.ts';

/**
 * The figure that each alert of a subscription is compared with, by its id; alerts on a metric that the plan does not
 * use are left out.
 *
 * usage  of the charges period in progress
 * Rules: alerts.md#types, alerts.md#usage-alerts.
 */
export async function alertFigures(
  ctx: Context,
  subscription: SubscriptionShown,
  usage: readonly ChargeUsage[],
  alerts: readonly AlertRow[],
): Promise<Map<string, Decimal>> {
  const isWatched = (type: SubscriptionAlertType) => alerts.some(({ alert_type }) => alert_type === type);
  const lifetime = isWatched('lifetime_usage_amount') ? await lifetimeUsageOf(ctx, subscription, usage) : undefined;
  const whole = isWatched('billable_metric_lifetime_usage_units')
    ? await usageSinceStart(ctx, subscription, usage, alerts)
    : [];
  const figureOf = ({ alert_type, billable_metric_id }: AlertRow): Decimal | undefined => {
    switch (alert_type) {
      case 'current_usage_amount':
        return decimal(amountOf(usage));
      case 'lifetime_usage_amount':
        return lifetime && decimal(lifetime.totalCents);
      case 'billable_metric_current_usage_amount':
        return highest(usage, billable_metric_id, (fee) => decimal(fee.amountCents));
      case 'billable_metric_current_usage_units':
        return highest(usage, billable_metric_id, (fee) => fee.units);
      case 'billable_metric_lifetime_usage_units':
        return highest(whole, billable_metric_id, (fee) => fee.units);
      default:
        return undefined; // of a wallet
    }
  };
  return new Map(
    alerts.flatMap((alert) => {
      const figure = figureOf(alert);
      return figure === undefined ? [] : [[alert.id, figure] as const];
    }),
  );
}

/** Usage of the metrics of lifetime alerts over the whole life of the subscription. */
function usageSinceStart(
  ctx: Context,
  subscription: SubscriptionShown,
  usage: readonly ChargeUsage[],
  alerts: readonly AlertRow[],
): Promise<ChargeUsage[]> {
  const metricIds = alerts
    .filter(({ alert_type }) => alert_type === 'billable_metric_lifetime_usage_units')
    .map(({ billable_metric_id }) => billable_metric_id);
  const charges = usage.map(({ charge }) => charge).filter(({ metric }) => metricIds.includes(metric.id));
  return usageOf(ctx, subscription, charges, { proration: usagePeriod(subscription, ctx.now(), true) });
}

/**
 * The greatest figure among a metric's fees, one for each charge, filter and group; undefined when no charge is on the
 * metric.
 */
function highest(
  usage: readonly ChargeUsage[],
  metricId: MetricId | null,
  figureOf: (fee: UsageFee) => Decimal,
): Decimal | undefined {
  const own = usage.filter(({ charge }) => charge.metric.id === metricId);
  if (own.length === 0) return undefined;
  return own.flatMap(({ shares }) => shares.map(({ fee }) => figureOf(fee))).reduce(max, ZERO);
}
