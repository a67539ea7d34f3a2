import type { Override } from '../../../engine/entitlements/merge-overrides.ts';
import type { Context } from '../../../platform/context.ts';
import { json } from '../../../platform/db/values.ts';
import type { SubscriptionId } from '../../../platform/ids.ts';
import { deleteEntitlements, saveGrant } from '../../catalog/entitlements/writes.ts';
import type { FeatureOfSubscription } from '../entitlements/queries.ts';

/** Replaces the values of a feature that a subscription has of its own. */
export async function saveOverride(
  ctx: Context,
  subscriptionId: SubscriptionId,
  feature: FeatureOfSubscription,
  override: Override,
): Promise<void> {
  const { db, organizationId } = ctx;
  if (override.isGranted)
    await saveGrant(ctx, {
      id: feature.own_entitlement_id,
      feature,
      holder: { subscription_id: subscriptionId },
      values: override.values,
    });
  else if (feature.own_entitlement_id !== null) await deleteEntitlements(ctx, [feature.own_entitlement_id]);
  const removed = [
    ...(override.isHidden ? [{ privilege_id: null }] : []),
    ...[...override.hiddenPrivileges].map((code) => ({
      privilege_id: feature.privileges.find((each) => each.code === code)!.id,
    })),
  ];
  await db`
    delete from entitlement_removals
    where organization_id = ${organizationId} and subscription_id = ${subscriptionId} and feature_id = ${feature.id}`;
  await db`
    insert into entitlement_removals (organization_id, subscription_id, feature_id, privilege_id, created_at)
    select ${organizationId}, ${subscriptionId}, ${feature.id}, given.privilege_id, ${ctx.now()}
    from jsonb_to_recordset(${json(removed)}::jsonb) as given (privilege_id uuid)`;
}
