import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { EntitlementId, FeatureId, PlanId } from '../../../platform/ids.ts';

/** Stored texts by privilege code of the entitlement `entitlement` of a statement that names its feature `feature`. */
export const valuesOf = (db: Db, entitlement: string) => db`(
  select coalesce(jsonb_object_agg(privilege.code, granted.value), '{}')
  from entitlement_values granted
  join privileges privilege
    on privilege.organization_id = granted.organization_id and privilege.id = granted.privilege_id
  where granted.organization_id = feature.organization_id and granted.entitlement_id = ${db(entitlement)}.id)`;

/** What a plan grants: ids of its entitlements and stored texts by privilege code, by feature. */
export const listGrantsOfPlan = ({ db, organizationId }: Scope, planId: PlanId) => db<
  { id: EntitlementId; feature_id: FeatureId; values: Record<string, string> }[]
>`
  select own.id, own.feature_id, ${valuesOf(db, 'own')} as values
  from entitlements own
  join features feature on feature.organization_id = own.organization_id and feature.id = own.feature_id
  where own.organization_id = ${organizationId} and own.plan_id = ${planId}`;
