import type { Temporal } from 'temporal-polyfill';
import type { ValueType } from '../../../engine/entitlements/value.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { containsPattern } from '../../../platform/lists/filters.ts';
import { limitOf, type Page } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { Period } from './schema.ts';

/** A privilege as the rows around it carry it. */
export interface PrivilegeJson {
  id: string;
  code: string;
  name: string | null;
  value_type: ValueType;
  /** Empty unless it is a select. */
  select_options: string[];
}

export interface UsageLimitJson {
  privilege_code: string;
  billable_metric_code: string;
  period: Period;
}

export interface FeatureRow {
  id: string;
  code: string;
  name: string | null;
  description: string | null;
  created_at: Temporal.Instant;
  /** In the order in which they were made. */
  privileges: PrivilegeJson[];
  usage_limits: UsageLimitJson[];
}

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

const columns = (db: Db) => db`
  feature.id, feature.code, feature.name, feature.description, feature.created_at,
  ${privilegesOfFeature(db)} as privileges, ${limitsOfFeature(db)} as usage_limits`;

export async function findFeature(db: Db, organizationId: string, code: string): Promise<FeatureRow | undefined> {
  const [row] = await db<FeatureRow[]>`
    select ${columns(db)} from features feature
    where feature.organization_id = ${organizationId} and feature.code = ${code} and feature.deleted_at is null`;
  return row;
}

/** @throws Refusal 404 feature */
export async function getFeature(db: Db, organizationId: string, code: string): Promise<FeatureRow> {
  const row = await findFeature(db, organizationId, code);
  if (!row) throw refuse.notFound('feature');
  return row;
}

/**
 * As getFeature, and until the transaction ends nobody else changes the feature or grants it.
 *
 * @throws Refusal 404 feature
 */
export async function lockFeature(db: Db, organizationId: string, code: string): Promise<FeatureRow> {
  await db`
    select from features where organization_id = ${organizationId} and code = ${code} and deleted_at is null
    for update`;
  return getFeature(db, organizationId, code);
}

/** Features of some codes, kept as they are until the transaction ends. @throws Refusal 404 feature, unless all are there */
export async function keepFeatures(db: Db, organizationId: string, codes: readonly string[]): Promise<FeatureRow[]> {
  await db`
    select from features
    where organization_id = ${organizationId} and code = any (${codes}) and deleted_at is null
    order by id for share`;
  const rows = await db<FeatureRow[]>`
    select ${columns(db)} from features feature
    where feature.organization_id = ${organizationId} and feature.code = any (${codes})
      and feature.deleted_at is null`;
  if (rows.length < new Set(codes).size) throw refuse.notFound('feature');
  return rows;
}

const matching = (db: Db, organizationId: string, term: string | undefined) => db`
  feature.organization_id = ${organizationId} and feature.deleted_at is null
  ${
    term === undefined
      ? db``
      : db`and (feature.name ilike ${containsPattern(term)} or feature.code ilike ${containsPattern(term)}
          or feature.description ilike ${containsPattern(term)})`
  }`;

/** A page of features, newest first. */
export const listFeatures = (db: Db, organizationId: string, term: string | undefined, page: Page) => db<FeatureRow[]>`
  select ${columns(db)} from features feature where ${matching(db, organizationId, term)}
  order by feature.created_at desc, feature.id desc
  limit ${limitOf(page).limit} offset ${limitOf(page).offset}`;

export async function countFeatures(db: Db, organizationId: string, term: string | undefined): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*) from features feature where ${matching(db, organizationId, term)}`;
  return row!.count;
}

/** Ids of the live plans that grant a feature, in order. */
export async function listPlanIdsOfFeature(db: Db, organizationId: string, featureId: string): Promise<string[]> {
  const rows = await db<{ plan_id: string }[]>`
    select entitlement.plan_id from entitlements entitlement
    join plans plan on plan.organization_id = entitlement.organization_id and plan.id = entitlement.plan_id
    where entitlement.organization_id = ${organizationId} and entitlement.feature_id = ${featureId}
      and plan.deleted_at is null
    order by plan.created_at, plan.id`;
  return rows.map(({ plan_id }) => plan_id);
}
