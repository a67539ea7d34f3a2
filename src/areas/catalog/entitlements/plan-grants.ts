import type { ValueType } from '../../../engine/entitlements/privilege-value.ts';
import type { Db, Fragment } from '../../../platform/db/connect.ts';

/** A feature that a plan grants, as the plan's row carries it. */
export interface PlanGrantJson {
  code: string;
  name: string | null;
  description: string | null;
  privileges: {
    code: string;
    name: string | null;
    value_type: ValueType;
    select_options: string[];
    /** Stored text. */
    value: string;
  }[];
}

/**
 * Features that the plan `plan` of a statement grants, as JSON in the order of the grants; an override grants what its
 * plan grants. `plan` is a table or its alias. Rule: entitlements.md.
 */
export const grantsOfPlan = (db: Db, plan: string): Fragment => db`(
  select coalesce(jsonb_agg(jsonb_build_object('code', feature.code, 'name', feature.name,
    'description', feature.description, 'privileges', (
      select coalesce(jsonb_agg(jsonb_build_object('code', privilege.code, 'name', privilege.name,
        'value_type', privilege.value_type, 'select_options', privilege.select_options, 'value', granted.value)
        order by privilege.created_at, privilege.id), '[]')
      from entitlement_values granted
      join privileges privilege
        on privilege.organization_id = granted.organization_id and privilege.id = granted.privilege_id
      where granted.organization_id = entitlement.organization_id and granted.entitlement_id = entitlement.id))
    order by entitlement.created_at, entitlement.id), '[]')
  from entitlements entitlement
  join features feature
    on feature.organization_id = entitlement.organization_id and feature.id = entitlement.feature_id
  where entitlement.organization_id = ${db(plan)}.organization_id
    and entitlement.plan_id = coalesce(${db(plan)}.parent_id, ${db(plan)}.id))`;
