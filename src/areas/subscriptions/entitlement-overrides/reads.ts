import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { entitlementsOf } from '../entitlements/reads.ts';
import type { StatusQuery } from '../entitlements/schema.ts';
import { findShownByExternalId } from '../subscriptions/queries.ts';

/**
 * What a subscription is entitled to, plan and overrides merged. @throws Refusal 404 subscription.
 * Rule: entitlements.md#merge.
 */
export async function listSubscriptionEntitlements(
  ctx: Context,
  { external_id, query }: { external_id: string; query: StatusQuery },
) {
  const subscription = await findShownByExternalId(ctx, external_id, query.subscription_status);
  if (!subscription) throw refuse.notFound('subscription');
  return { entitlements: await entitlementsOf(ctx, subscription) };
}
