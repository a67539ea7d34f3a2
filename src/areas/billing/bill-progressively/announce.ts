import type { Context } from '../../../platform/context.ts';
import type { UsageThresholdRow } from '../../catalog/usage-thresholds/queries.ts';
import { applicableThresholdView, usageThresholdView } from '../../catalog/usage-thresholds/view.ts';
import { readCustomer } from '../../customers/customers/queries.ts';
import { customerWebhookView } from '../../customers/customers/view.ts';
import type { SubscriptionShown } from '../../subscriptions/subscriptions/queries.ts';
import { planOf } from '../../subscriptions/subscriptions/show-subscription.ts';
import { subscriptionView } from '../../subscriptions/subscriptions/view.ts';

/** Announces each threshold that was passed: `subscription.usage_threshold_reached`. Rule: webhooks.md#event-types. */
export async function announceThresholds(
  ctx: Context,
  subscription: SubscriptionShown,
  { passed, applicable }: { passed: readonly UsageThresholdRow[]; applicable: readonly UsageThresholdRow[] },
): Promise<void> {
  const [plan, customer] = await Promise.all([
    planOf(ctx, subscription.plan_id),
    readCustomer(ctx, subscription.customer_id),
  ]);
  const object = {
    ...subscriptionView(subscription, ctx.now()),
    plan,
    customer: customerWebhookView(customer),
    applicable_usage_thresholds: applicable.map(applicableThresholdView),
  };
  for (const threshold of passed) {
    ctx.record({
      webhook: {
        type: 'subscription.usage_threshold_reached',
        objectType: 'subscription',
        objectId: subscription.id,
        customerId: subscription.customer_id,
        object: { ...object, usage_threshold: usageThresholdView(threshold) },
      },
    });
  }
}
