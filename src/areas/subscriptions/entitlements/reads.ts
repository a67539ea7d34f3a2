import type { Scope } from '../../../platform/db/scope.ts';
import type { PlanId, SubscriptionId } from '../../../platform/ids.ts';
import { listFeaturesOfSubscription } from './queries.ts';
import type { SubscriptionEntitlementView } from './schema.ts';
import { subscriptionEntitlementViews } from './view.ts';

/** Entitlements of a subscription as its JSON embeds them. */
export async function entitlementsOf(
  ctx: Scope,
  subscription: { id: SubscriptionId; plan_id: PlanId },
): Promise<SubscriptionEntitlementView[]> {
  const holder = { subscriptionId: subscription.id, planId: subscription.plan_id };
  return subscriptionEntitlementViews(await listFeaturesOfSubscription(ctx, holder));
}
