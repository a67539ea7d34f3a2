import type { Override, Values } from '../../../engine/entitlements/merge-overrides.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { EntitlementId, FeatureId, PlanId, SubscriptionId } from '../../../platform/ids.ts';
import { valuesOf } from '../../catalog/entitlements/queries.ts';
import { type PrivilegeJson, privilegesOfFeature } from '../../catalog/features/queries.ts';

/** A feature with the values of a subscription's plan and those of the subscription. */
export interface FeatureOfSubscription {
  id: FeatureId;
  code: string;
  name: string | null;
  description: string | null;
  privileges: PrivilegeJson[];
  plan_entitlement_id: EntitlementId | null;
  own_entitlement_id: EntitlementId | null;
  /** Stored texts by privilege code. */
  plan_values: Record<string, string>;
  own_values: Record<string, string>;
  is_hidden: boolean;
  hidden_privileges: string[];
}

/** The values that the plan grants; undefined if it does not grant the feature. */
export const planValuesOf = (feature: FeatureOfSubscription): Values | undefined =>
  feature.plan_entitlement_id === null ? undefined : new Map(Object.entries(feature.plan_values));

export const overrideOf = (feature: FeatureOfSubscription): Override => ({
  isGranted: feature.own_entitlement_id !== null,
  values: new Map(Object.entries(feature.own_values)),
  isHidden: feature.is_hidden,
  hiddenPrivileges: new Set(feature.hidden_privileges),
});

const columns = (db: Db, subscriptionId: SubscriptionId) => db`
  feature.id, feature.code, feature.name, feature.description, ${privilegesOfFeature(db)} as privileges,
  of_plan.id as plan_entitlement_id, own.id as own_entitlement_id, ${valuesOf(db, 'of_plan')} as plan_values,
  ${valuesOf(db, 'own')} as own_values,
  exists (select from entitlement_removals removal
    where removal.organization_id = feature.organization_id and removal.subscription_id = ${subscriptionId}
      and removal.feature_id = feature.id and removal.privilege_id is null) as is_hidden,
  array(select privilege.code from entitlement_removals removal
    join privileges privilege
      on privilege.organization_id = removal.organization_id and privilege.id = removal.privilege_id
    where removal.organization_id = feature.organization_id and removal.subscription_id = ${subscriptionId}
      and removal.feature_id = feature.id) as hidden_privileges`;

interface Holder {
  subscriptionId: SubscriptionId;
  /** The subscription's plan; for an override the grants of its parent plan are read. */
  planId: PlanId;
}

const tables = ({ db, organizationId }: Scope, { subscriptionId, planId }: Holder) => db`
  features feature
  join plans plan on plan.organization_id = feature.organization_id and plan.id = ${planId}
  left join entitlements of_plan on of_plan.organization_id = feature.organization_id
    and of_plan.plan_id = coalesce(plan.parent_id, plan.id) and of_plan.feature_id = feature.id
  left join entitlements own on own.organization_id = feature.organization_id
    and own.subscription_id = ${subscriptionId} and own.feature_id = feature.id
  where feature.organization_id = ${organizationId} and feature.deleted_at is null`;

/**
 * Features that a subscription's plan or the subscription itself grants: those of the plan first, in order of grant.
 */
export const listFeaturesOfSubscription = (scope: Scope, holder: Holder) => scope.db<FeatureOfSubscription[]>`
  select ${columns(scope.db, holder.subscriptionId)} from ${tables(scope, holder)}
    and (of_plan.id is not null or own.id is not null)
  order by of_plan.id is null, coalesce(of_plan.created_at, own.created_at), coalesce(of_plan.id, own.id)`;

/** Features by their codes with the grants of a subscription, whether it has any or not. */
export const listFeaturesForSubscription = (scope: Scope, holder: Holder, codes: readonly string[]) => scope.db<
  FeatureOfSubscription[]
>`
  select ${columns(scope.db, holder.subscriptionId)} from ${tables(scope, holder)}
    and feature.code = any (${codes})`;
