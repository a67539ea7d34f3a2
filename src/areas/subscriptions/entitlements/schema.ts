import { z } from 'zod';
import { SUBSCRIPTION_STATUSES } from '../../../engine/subscriptions/subscription-states.ts';
import { textFilter } from '../../../platform/lists/filters.ts';
import { PrivilegeView } from '../../catalog/entitlements/privilege.ts';
import { entitlementValue, namedFeature } from '../../catalog/entitlements/schema.ts';

const statusFilter = textFilter
  .transform((value) => SUBSCRIPTION_STATUSES.find((each) => each === value))
  .meta({ type: 'string', enum: SUBSCRIPTION_STATUSES });

/** Status of the selected record: `subscription_status` or `status`; an unknown word is ignored. */
export const StatusQuery = z
  .object({ subscription_status: statusFilter, status: statusFilter })
  .transform(({ subscription_status, status }) => ({
    subscription_status: subscription_status ?? status ?? ('active' as const),
  }));
export type StatusQuery = z.infer<typeof StatusQuery>;

export const SubscriptionEntitlementView = z.object({
  ...namedFeature,
  privileges: z.array(
    PrivilegeView.extend({
      value: entitlementValue,
      plan_value: entitlementValue,
      override_value: entitlementValue.nullable(),
    }),
  ),
  overrides: z.record(z.string(), entitlementValue),
});
export type SubscriptionEntitlementView = z.infer<typeof SubscriptionEntitlementView>;
export const SubscriptionEntitlementList = z.object({ entitlements: z.array(SubscriptionEntitlementView) });
/** The removed entitlement, and those that are left. */
export const SubscriptionEntitlementTaken = SubscriptionEntitlementList.extend({
  entitlement: SubscriptionEntitlementView,
});
