import { Temporal } from 'temporal-polyfill';
import { type ThresholdProgress, thresholdProgress } from '../../../engine/subscriptions/threshold-progress.ts';
import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { seconds } from '../../../platform/schema/view.ts';
import { listApplicableThresholds, type UsageThresholdRow } from '../../catalog/usage-thresholds/queries.ts';
import { findShownByExternalId, type SubscriptionShown } from '../../subscriptions/subscriptions/queries.ts';
import { lifetimeUsageOf } from './lifetime-usage.ts';

/**
 * Lifetime usage as the API shows it, with the progress through its thresholds. Six statements at most.
 *
 * @throws Refusal 404 subscription, lifetime_usage
 */
export async function showLifetimeUsage(ctx: Context, { external_id }: { external_id: string }) {
  return { lifetime_usage: await lifetimeUsageView(ctx, await subscriptionWithLifetime(ctx, external_id)) };
}

/**
 * The active subscription of an external id, else the one that ended last: no other has lifetime usage.
 *
 * @throws Refusal 404 subscription, lifetime_usage
 */
export async function subscriptionWithLifetime(ctx: Context, externalId: string): Promise<SubscriptionShown> {
  const find = (status: SubscriptionShown['status']) => findShownByExternalId(ctx, externalId, status);
  const subscription = (await find('active')) ?? (await find('terminated'));
  if (subscription) return subscription;
  const isWaiting = (await find('pending')) ?? (await find('incomplete'));
  throw refuse.notFound(isWaiting ? 'lifetime_usage' : 'subscription');
}

export async function lifetimeUsageView(ctx: Context, subscription: SubscriptionShown) {
  const [usage, thresholds] = await Promise.all([
    lifetimeUsageOf(ctx, subscription),
    listApplicableThresholds(ctx, subscription.id),
  ]);
  const reachedAt = ({
    threshold,
    amountCents,
    ratio,
  }: ThresholdProgress<UsageThresholdRow>): Temporal.Instant | null => {
    if (!ratio.equals(1)) return null;
    const by = usage.applied.find(
      (each) => each.usage_threshold_id === threshold.id && each.lifetime_usage_amount_cents >= amountCents,
    );
    return by ? Temporal.Instant.from(by.created_at) : ctx.now();
  };
  return {
    svc_id: usage.id,
    svc_subscription_id: subscription.id,
    external_subscription_id: subscription.external_id,
    external_historical_usage_amount_cents: usage.historicalCents,
    invoiced_usage_amount_cents: usage.invoicedCents,
    current_usage_amount_cents: usage.currentCents,
    from_datetime: seconds(subscription.subscription_at),
    to_datetime: seconds(ctx.now()),
    ...(thresholds.length === 0
      ? {}
      : {
          usage_thresholds: thresholdProgress(thresholds, usage.totalCents).map((progress) => {
            const at = reachedAt(progress);
            return {
              amount_cents: progress.amountCents,
              completion_ratio: progress.ratio.toNumber(),
              reached_at: at && seconds(at),
            };
          }),
        }),
  };
}
