import type { Context } from '../../../platform/context.ts';
import { markUsage } from '../../usage-thresholds/marks.ts';
import { replaceThresholds } from '../../usage-thresholds/writes.ts';
import type { SubscriptionCreate, SubscriptionUpdate } from '../schema.ts';

/**
 * Stores the usage thresholds that an input gives a subscription: the whole list, which replaces that of its plan; an empty
 * one leaves the plan's. What new thresholds, its override plan's too, find already passed is billed.
 *
 * Rule: subscriptions-and-invoices A.5.
 */
export async function saveThresholds(
  ctx: Context,
  id: string,
  body: Pick<
    SubscriptionCreate | SubscriptionUpdate,
    'usage_thresholds' | 'plan_overrides' | 'progressive_billing_disabled'
  >,
): Promise<void> {
  if (body.usage_thresholds)
    await replaceThresholds(ctx.db, ctx.organizationId, { subscription_id: id }, body.usage_thresholds, ctx.now());
  const isChanged =
    body.usage_thresholds || body.plan_overrides?.usage_thresholds || body.progressive_billing_disabled === false;
  if (isChanged) await markUsage(ctx, { ids: [id] });
}
