import {
  hideFeature,
  hidePrivilege,
  type Override,
  patchFeature,
} from '../../../engine/entitlements/merge-overrides.ts';
import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { readGiven } from '../../catalog/entitlements/read-values.ts';
import type { GivenFeature } from '../../catalog/entitlements/schema.ts';
import { keepFeatures } from '../../catalog/features/queries.ts';
import {
  type FeatureOfSubscription,
  listFeaturesForSubscription,
  overrideOf,
  planValuesOf,
} from '../entitlements/queries.ts';
import { entitlementsOf } from '../entitlements/reads.ts';
import type { StatusQuery } from '../entitlements/schema.ts';
import { subscriptionEntitlementView } from '../entitlements/view.ts';
import { recordSubscription } from '../subscriptions/announce.ts';
import { lockRecords } from '../subscriptions/commands/terminate.ts';
import { lockPlansOf } from '../subscriptions/overrides/override-plan.ts';
import { getShown, type SubscriptionRow } from '../subscriptions/queries.ts';
import { saveOverride } from './writes.ts';

interface Address {
  external_id: string;
  query: StatusQuery;
}

/**
 * Gives one subscription values of its own, beside what its plan grants.
 *
 * @throws Refusal 404 subscription, feature, privilege; 422 as readGiven
 * Rule: entitlements.md#merge "PATCH per feature".
 */
export async function patchSubscriptionEntitlements(
  ctx: Context,
  { body, ...address }: Address & { body: GivenFeature[] },
) {
  const subscription = await lockMeant(ctx, address);
  const features = await featuresOf(
    ctx,
    subscription,
    body.map(({ feature_code }) => feature_code),
  );
  for (const [code, values] of readGiven(body, features)) {
    const feature = features.find((each) => each.code === code)!;
    await saveOverride(ctx, subscription.id, feature, patchFeature(planValuesOf(feature), overrideOf(feature), values));
  }
  return { entitlements: await recordChange(ctx, subscription) };
}

interface FeatureAddress extends Address {
  feature_code: string;
}

/**
 * Takes a feature from one subscription. Answers it as it was, and what is left.
 *
 * @throws Refusal 404 subscription, feature
 * Rule: entitlements.md#merge "DELETE feature".
 */
export async function deleteSubscriptionEntitlement(ctx: Context, { feature_code, ...address }: FeatureAddress) {
  const { subscription, feature } = await lockFeatureOf(ctx, address, feature_code);
  await saveOverride(ctx, subscription.id, feature, hideFeature(planValuesOf(feature)));
  const entitlements = await recordChange(ctx, subscription);
  return { entitlement: subscriptionEntitlementView(feature), entitlements };
}

/**
 * Takes a privilege of a feature from one subscription. Answers the feature as it then has it, and all that it has.
 *
 * @throws Refusal 404 subscription, feature, privilege
 * Rule: entitlements.md#merge "DELETE privilege".
 */
export async function deleteSubscriptionEntitlementPrivilege(
  ctx: Context,
  { feature_code, privilege_code, ...address }: FeatureAddress & { privilege_code: string },
) {
  const { subscription, feature } = await lockFeatureOf(ctx, address, feature_code);
  if (!feature.privileges.some(({ code }) => code === privilege_code)) throw refuse.notFound('privilege');
  const override: Override = hidePrivilege(planValuesOf(feature), overrideOf(feature), privilege_code);
  await saveOverride(ctx, subscription.id, feature, override);
  const entitlements = await recordChange(ctx, subscription);
  const [after] = await featuresOf(ctx, subscription, [feature_code]);
  return { entitlement: subscriptionEntitlementView(after!), entitlements };
}

/** The record that an address means, locked after its plan and its customer. @throws Refusal 404 subscription */
async function lockMeant(ctx: Context, { external_id, query }: Address): Promise<SubscriptionRow> {
  await lockPlansOf(ctx, external_id);
  const records = await lockRecords(ctx, external_id);
  const subscription = records
    .filter(({ status }) => status === query.subscription_status)
    .reduce<SubscriptionRow | undefined>(
      (latest, each) => (latest && isLater(latest, each) ? latest : each),
      undefined,
    );
  if (!subscription) throw refuse.notFound('subscription');
  return subscription;
}

// Whether reads show `some` rather than `other`, of two records with one status.
function isLater(some: SubscriptionRow, other: SubscriptionRow): boolean {
  const ended = (each: SubscriptionRow) => each.terminated_at?.epochNanoseconds ?? null;
  const started = (each: SubscriptionRow) => each.started_at?.epochNanoseconds ?? -(2n ** 63n);
  if (ended(some) !== ended(other)) {
    if (ended(some) === null || ended(other) === null) return ended(some) === null;
    return ended(some)! > ended(other)!;
  }
  return started(some) === started(other) ? some.id > other.id : started(some) > started(other);
}

async function lockFeatureOf(ctx: Context, address: Address, featureCode: string) {
  const subscription = await lockMeant(ctx, address);
  const [feature] = await featuresOf(ctx, subscription, [featureCode]);
  return { subscription, feature: feature! };
}

/** Features by code with all that a subscription has of them. @throws Refusal 404 feature */
async function featuresOf(
  ctx: Context,
  subscription: SubscriptionRow,
  codes: readonly string[],
): Promise<FeatureOfSubscription[]> {
  await keepFeatures(ctx, codes);
  const holder = { subscriptionId: subscription.id, planId: subscription.plan_id };
  return listFeaturesForSubscription(ctx, holder, codes);
}

/** Records the subscription as it then is, even if nothing changed. Rule: entitlements.md#routes. */
async function recordChange(ctx: Context, subscription: SubscriptionRow) {
  const shown = await getShown(ctx, subscription.id);
  await recordSubscription(ctx, 'subscription.updated', subscription.id, shown);
  return entitlementsOf(ctx, subscription);
}
