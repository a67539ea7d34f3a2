import type { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { FeatureId, MetricId, PrivilegeId } from '../../../platform/ids.ts';
import type { PrivilegeJson } from './queries.ts';

/** Stores privileges of a feature: new ones, and names and options of those that are there. */
export const savePrivileges = (
  { db, organizationId }: Scope,
  featureId: FeatureId,
  { privileges, now }: { privileges: readonly PrivilegeJson[]; now: Temporal.Instant },
) => db`
  insert into privileges (id, organization_id, feature_id, code, name, value_type, select_options, created_at)
  select given.id, ${organizationId}, ${featureId}, given.code, given.name, given.value_type,
    array(select jsonb_array_elements_text(given.select_options)), ${now}
  from jsonb_to_recordset(${json(privileges)}::jsonb)
    as given (id uuid, code text, name text, value_type text, select_options jsonb)
  on conflict (organization_id, feature_id, code)
    do update set name = excluded.name, select_options = excluded.select_options`;

/** Takes a privilege away, with every value of it. */
export const deletePrivilege = ({ db, organizationId }: Scope, id: PrivilegeId) => db`
  delete from privileges where organization_id = ${organizationId} and id = ${id}`;

/** Takes a feature away, with its privileges and all that was granted of it. */
export async function deleteFeatureRows(
  { db, organizationId }: Scope,
  id: FeatureId,
  now: Temporal.Instant,
): Promise<void> {
  await db`delete from feature_usage_limits where organization_id = ${organizationId} and feature_id = ${id}`;
  await db`delete from entitlement_removals where organization_id = ${organizationId} and feature_id = ${id}`;
  await db`delete from entitlements where organization_id = ${organizationId} and feature_id = ${id}`;
  await db`delete from privileges where organization_id = ${organizationId} and feature_id = ${id}`;
  await db`
    update features set deleted_at = ${now}, updated_at = ${now}
    where organization_id = ${organizationId} and id = ${id}`;
}

/** Replaces the usage limits of a feature, in order. */
export async function replaceUsageLimits(
  { db, organizationId }: Scope,
  featureId: FeatureId,
  limits: readonly { privilege_id: PrivilegeId; billable_metric_id: MetricId; period: string }[],
): Promise<void> {
  await db`delete from feature_usage_limits where organization_id = ${organizationId} and feature_id = ${featureId}`;
  await db`
    insert into feature_usage_limits (organization_id, feature_id, place, privilege_id, billable_metric_id, period)
    select ${organizationId}, ${featureId}, given.place, (given.item ->> 'privilege_id')::uuid,
      (given.item ->> 'billable_metric_id')::uuid, given.item ->> 'period'
    from jsonb_array_elements(${json(limits)}::jsonb) with ordinality as given (item, place)`;
}
