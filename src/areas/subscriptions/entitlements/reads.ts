import type { Context } from '../../../platform/context.ts';
import { listFeaturesOfSubscription } from './queries.ts';
import type { SubscriptionEntitlementView } from './schema.ts';
import { subscriptionEntitlementViews } from './view.ts';

/** Entitlements of a subscription as its JSON embeds them. */
export async function entitlementsOf(
  { db, organizationId }: Pick<Context, 'db' | 'organizationId'>,
  subscription: { id: string; plan_id: string },
): Promise<SubscriptionEntitlementView[]> {
  const holder = { subscriptionId: subscription.id, planId: subscription.plan_id };
  return subscriptionEntitlementViews(await listFeaturesOfSubscription(db, organizationId, holder));
}
