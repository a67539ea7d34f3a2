import type { Temporal } from 'temporal-polyfill';
import type { Values } from '../../../engine/entitlements/merge-overrides.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { EntitlementId, FeatureId, PlanId, SubscriptionId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import type { FeatureRow } from '../features/queries.ts';

/** A grant to be stored: its feature, its owner and the values by privilege code. */
interface Grant {
  id: string | null;
  feature: Pick<FeatureRow, 'id' | 'privileges'>;
  holder: { plan_id: PlanId } | { subscription_id: SubscriptionId };
  values: Values;
}

/** Stores a grant with exactly the values given; it is made when it has no id. */
export async function saveGrant(ctx: Context, { id, feature, holder, values }: Grant): Promise<void> {
  const { db, organizationId } = ctx;
  const entitlementId = id ?? newId();
  if (id === null) await insertEntitlement(ctx, entitlementId, { featureId: feature.id, holder, now: ctx.now() });
  const rows = [...values].map(([code, value]) => ({
    privilege_id: feature.privileges.find((each) => each.code === code)!.id,
    value,
  }));
  await db`
    delete from entitlement_values where organization_id = ${organizationId} and entitlement_id = ${entitlementId}`;
  await db`
    insert into entitlement_values (organization_id, entitlement_id, privilege_id, value)
    select ${organizationId}, ${entitlementId}, given.privilege_id, given.value
    from jsonb_to_recordset(${json(rows)}::jsonb) as given (privilege_id uuid, value text)`;
}

const insertEntitlement = (
  { db, organizationId }: Scope,
  id: EntitlementId,
  { featureId, holder, now }: { featureId: FeatureId; holder: Grant['holder']; now: Temporal.Instant },
) => db`
  insert into entitlements (id, organization_id, feature_id, plan_id, subscription_id, created_at)
  values (${id}, ${organizationId}, ${featureId}, ${'plan_id' in holder ? holder.plan_id : null},
    ${'subscription_id' in holder ? holder.subscription_id : null}, ${now})`;

/** Takes grants away, with their values. */
export const deleteEntitlements = ({ db, organizationId }: Scope, ids: readonly EntitlementId[]) => db`
  delete from entitlements where organization_id = ${organizationId} and id = any (${ids}::uuid[])`;

/** Takes away all that a plan grants. Rule: plans.md#deletion. */
export const deleteEntitlementsOfPlan = ({ db, organizationId }: Scope, planId: PlanId) => db`
  delete from entitlements where organization_id = ${organizationId} and plan_id = ${planId}`;
