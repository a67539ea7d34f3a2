import { z } from 'zod';
import type { ValueType } from '../../../engine/entitlements/privilege-value.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { columnsOf, getRow } from '../../../platform/db/rows.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { FeatureId, PlanId, PrivilegeId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { column, computed, hidden, orNull, plain, type RowOf } from '../../../platform/schema/columns.ts';
import { PrivilegeView, privilegeView } from '../entitlements/privilege.ts';
import { PERIODS } from './schema.ts';

/** A privilege as the rows around it carry it. */
export interface PrivilegeJson {
  id: PrivilegeId;
  code: string;
  name: string | null;
  value_type: ValueType;
  /** Empty unless it is a select. */
  select_options: string[];
}

const UsageLimitView = z.object({
  privilege_code: z.string(),
  billable_metric_code: z.string(),
  period: z.enum(PERIODS),
});

/** Privileges of the feature `feature` of a statement as JSON. */
export const privilegesOfFeature = (db: Db) => db`(
  select coalesce(jsonb_agg(jsonb_build_object('id', privilege.id, 'code', privilege.code, 'name', privilege.name,
    'value_type', privilege.value_type, 'select_options', privilege.select_options)
    order by privilege.created_at, privilege.id), '[]')
  from privileges privilege
  where privilege.organization_id = feature.organization_id and privilege.feature_id = feature.id)`;

/** Limits of usage of the feature `feature` of a statement as JSON; those of deleted metrics limit nothing. */
const limitsOfFeature = (db: Db) => db`(
  select coalesce(jsonb_agg(jsonb_build_object('privilege_code', privilege.code, 'billable_metric_code', metric.code,
    'period', usage_limit.period) order by usage_limit.place), '[]')
  from feature_usage_limits usage_limit
  join privileges privilege
    on privilege.organization_id = usage_limit.organization_id and privilege.id = usage_limit.privilege_id
  join billable_metrics metric on metric.organization_id = usage_limit.organization_id
    and metric.id = usage_limit.billable_metric_id and metric.deleted_at is null
  where usage_limit.organization_id = feature.organization_id and usage_limit.feature_id = feature.id)`;

/** A feature as it is stored and shown. Rules: entitlements.md#records, entitlements.md#usage-limits. */
export const features = {
  name: 'feature',
  table: 'features',
  columns: {
    id: hidden(column.idOf<FeatureId>()),
    code: column.text,
    name: orNull(column.text),
    description: orNull(column.text),
    /** In the order in which they were made. */
    privileges: computed(
      { shown: z.array(PrivilegeView), show: (privileges: PrivilegeJson[]) => privileges.map(privilegeView) },
      privilegesOfFeature,
    ),
    usage_limits: computed(plain(z.array(UsageLimitView)), limitsOfFeature),
    created_at: column.instant,
  },
};
export type FeatureRow = RowOf<typeof features>;

/**
 * As getRow, and the feature stays locked until the transaction ends or grants it.
 *
 * @throws Refusal 404 feature
 */
export async function lockFeature(scope: Scope, code: string): Promise<FeatureRow> {
  await scope.db`
    select from features where organization_id = ${scope.organizationId} and code = ${code} and deleted_at is null
    for update`;
  return getRow(scope, features, code);
}

/**
 * Features of some codes, kept as they are until the transaction ends. @throws Refusal 404 feature, unless all are
 * there
 */
export async function keepFeatures({ db, organizationId }: Scope, codes: readonly string[]): Promise<FeatureRow[]> {
  await db`
    select from features
    where organization_id = ${organizationId} and code = any (${codes}) and deleted_at is null
    order by id for share`;
  const rows = await db<FeatureRow[]>`
    select ${columnsOf(db, features)} from features feature
    where organization_id = ${organizationId} and code = any (${codes}) and deleted_at is null`;
  if (rows.length < new Set(codes).size) throw refuse.notFound('feature');
  return rows;
}

/** Ids of the live plans that grant a feature, in order. */
export async function listPlanIdsOfFeature({ db, organizationId }: Scope, featureId: FeatureId): Promise<PlanId[]> {
  const rows = await db<{ plan_id: PlanId }[]>`
    select entitlement.plan_id from entitlements entitlement
    join plans plan on plan.organization_id = entitlement.organization_id and plan.id = entitlement.plan_id
    where entitlement.organization_id = ${organizationId} and entitlement.feature_id = ${featureId}
      and plan.deleted_at is null
    order by plan.created_at, plan.id`;
  return rows.map(({ plan_id }) => plan_id);
}
