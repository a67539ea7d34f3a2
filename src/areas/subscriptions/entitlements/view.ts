import { type MergedValue, mergeFeature } from '../../../engine/entitlements/merge-overrides.ts';
import { shownValue } from '../../../engine/entitlements/privilege-value.ts';
import { privilegeView } from '../../catalog/entitlements/privilege.ts';
import { type FeatureOfSubscription, overrideOf, planValuesOf } from './queries.ts';
import type { SubscriptionEntitlementView } from './schema.ts';

/** Shown as `plan_value` where the plan grants none, because the contract requires the key and allows no null. */
const NO_PLAN_VALUE = '';

/** The entitlements of a subscription as the API shows them. Rule: entitlements.md#merge. */
export const subscriptionEntitlementViews = (
  features: readonly FeatureOfSubscription[],
): SubscriptionEntitlementView[] =>
  features.flatMap((feature) => {
    const merged = mergeFeature(planValuesOf(feature), overrideOf(feature));
    return merged === undefined ? [] : [entitlementView(feature, merged)];
  });

/** One feature of a subscription as the API shows it, without privileges when it does not have the feature. */
export const subscriptionEntitlementView = (feature: FeatureOfSubscription): SubscriptionEntitlementView =>
  entitlementView(feature, mergeFeature(planValuesOf(feature), overrideOf(feature)) ?? new Map());

function entitlementView(
  feature: FeatureOfSubscription,
  merged: ReadonlyMap<string, MergedValue>,
): SubscriptionEntitlementView {
  const privileges = feature.privileges.flatMap((privilege) => {
    const values = merged.get(privilege.code);
    if (values === undefined) return [];
    const show = (text: string) => shownValue(privilege.value_type, text);
    return [
      {
        ...privilegeView(privilege),
        value: show(values.value),
        plan_value: values.plan === undefined ? NO_PLAN_VALUE : show(values.plan),
        override_value: values.override === undefined ? null : show(values.override),
      },
    ];
  });
  return {
    code: feature.code,
    name: feature.name,
    description: feature.description,
    privileges,
    overrides: Object.fromEntries(
      privileges.flatMap(({ code, override_value }) => (override_value === null ? [] : [[code, override_value]])),
    ),
  };
}
