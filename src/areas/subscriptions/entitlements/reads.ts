import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { getFeature } from '../../catalog/features/queries.ts';
import { getPlanByCode } from '../../catalog/plans/queries.ts';
import { findShownByExternalId } from '../subscriptions/queries.ts';
import { listFeaturesOfSubscription } from './queries.ts';
import type { StatusQuery, SubscriptionEntitlementView } from './schema.ts';
import { planEntitlementView, subscriptionEntitlementViews } from './view.ts';

/** @throws Refusal 404 plan */
export async function listPlanEntitlements(ctx: Context, { code }: { code: string }) {
  const plan = await getPlanByCode(ctx.db, ctx.organizationId, code);
  return { entitlements: plan.entitlements.map(planEntitlementView) };
}

/** @throws Refusal 404 plan, feature, entitlement */
export async function showPlanEntitlement(
  ctx: Context,
  { code, feature_code }: { code: string; feature_code: string },
) {
  const plan = await getPlanByCode(ctx.db, ctx.organizationId, code);
  const grant = plan.entitlements.find((each) => each.code === feature_code);
  if (!grant) {
    await getFeature(ctx.db, ctx.organizationId, feature_code);
    throw refuse.notFound('entitlement');
  }
  return { entitlement: planEntitlementView(grant) };
}

/** What a subscription is entitled to, plan and overrides merged. @throws Refusal 404 subscription. Rule: platform J.3. */
export async function listSubscriptionEntitlements(
  ctx: Context,
  { external_id, query }: { external_id: string; query: StatusQuery },
) {
  const { db, organizationId } = ctx;
  const subscription = await findShownByExternalId(db, organizationId, external_id, query.subscription_status);
  if (!subscription) throw refuse.notFound('subscription');
  return { entitlements: await entitlementsOf(ctx, subscription) };
}

/** Entitlements of a subscription as its JSON embeds them. */
export async function entitlementsOf(
  { db, organizationId }: Pick<Context, 'db' | 'organizationId'>,
  subscription: { id: string; plan_id: string },
): Promise<SubscriptionEntitlementView[]> {
  const holder = { subscriptionId: subscription.id, planId: subscription.plan_id };
  return subscriptionEntitlementViews(await listFeaturesOfSubscription(db, organizationId, holder));
}
