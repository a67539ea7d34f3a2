import { shownValue } from '../../../engine/entitlements/privilege-value.ts';
import type { PlanGrantJson } from './plan-grants.ts';
import { privilegeView } from './privilege.ts';
import type { PlanEntitlementView } from './schema.ts';

/** A feature that a plan grants, as the API shows it. Rule: entitlements.md#routes. */
export const planEntitlementView = (grant: PlanGrantJson): PlanEntitlementView => ({
  code: grant.code,
  name: grant.name,
  description: grant.description,
  privileges: grant.privileges.map((privilege) => ({
    ...privilegeView({ ...privilege, id: '' }),
    value: shownValue(privilege.value_type, privilege.value),
  })),
});
