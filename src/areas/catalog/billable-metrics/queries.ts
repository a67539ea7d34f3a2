import type { Temporal } from 'temporal-polyfill';
import type { AggregationType } from '../../../engine/metrics/aggregation-types.ts';
import type { FilterValues } from '../../../engine/metrics/choose-filter.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { limitOf, type Page } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';

export interface MetricFilter {
  key: string;
  values: string[];
}

export interface BillableMetricRow {
  id: string;
  code: string;
  name: string;
  description: string | null;
  aggregation_type: AggregationType;
  recurring: boolean;
  field_name: string | null;
  weighted_interval: 'seconds' | null;
  rounding_function: 'round' | 'ceil' | 'floor' | null;
  rounding_precision: number | null;
  expression: string | null;
  created_at: Temporal.Instant;
  filters: MetricFilter[];
}

/** Values by key that a metric declares: what the filters of charges on it choose from. */
export const declaredValues = ({ filters }: Pick<BillableMetricRow, 'filters'>): FilterValues =>
  Object.fromEntries(filters.map(({ key, values }) => [key, values]));

const columns = (db: Db) => db`
  m.id, m.code, m.name, m.description, m.aggregation_type, m.recurring, m.field_name, m.weighted_interval,
  m.rounding_function, m.rounding_precision, m.expression, m.created_at,
  coalesce((
    select jsonb_agg(jsonb_build_object('key', f.key, 'values', f."values") order by f.key)
    from billable_metric_filters f
    where f.organization_id = m.organization_id and f.billable_metric_id = m.id
  ), '[]') as filters`;

/** Metrics by id, deleted ones too, in no order. */
export const listBillableMetricsById = (db: Db, organizationId: string, ids: readonly string[]) => db<
  BillableMetricRow[]
>`
  select ${columns(db)} from billable_metrics m
  where m.organization_id = ${organizationId} and m.id = any (${ids}::uuid[])`;

/** A live metric by its code. */
export async function findBillableMetricByCode(
  db: Db,
  organizationId: string,
  code: string,
): Promise<BillableMetricRow | undefined> {
  const [row] = await db<BillableMetricRow[]>`
    select ${columns(db)} from billable_metrics m
    where m.organization_id = ${organizationId} and m.code = ${code} and m.deleted_at is null`;
  return row;
}

/** @throws Refusal 404 billable_metric */
export async function getBillableMetricByCode(
  db: Db,
  organizationId: string,
  code: string,
): Promise<BillableMetricRow> {
  const row = await findBillableMetricByCode(db, organizationId, code);
  if (!row) throw refuse.notFound('billable_metric');
  return row;
}

/**
 * A live metric by its code, locked against other writes of it; charges made meanwhile wait too.
 *
 * @throws Refusal 404 billable_metric
 */
export async function lockBillableMetricByCode(
  db: Db,
  organizationId: string,
  code: string,
): Promise<BillableMetricRow> {
  // Read after the lock is granted: a locking read would show the filters as of before the wait.
  const [, row] = await Promise.all([
    db`
      select id from billable_metrics
      where organization_id = ${organizationId} and code = ${code} and deleted_at is null
      for update`,
    getBillableMetricByCode(db, organizationId, code),
  ]);
  return row;
}

/** Live metrics by id, in no order; they stay as they are for as long as the transaction lasts. */
export async function lockBillableMetrics(
  db: Db,
  organizationId: string,
  ids: readonly string[],
): Promise<BillableMetricRow[]> {
  const [, rows] = await Promise.all([
    db`
      select id from billable_metrics
      where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and deleted_at is null
      order by id
      for share`,
    db<BillableMetricRow[]>`
      select ${columns(db)} from billable_metrics m
      where m.organization_id = ${organizationId} and m.id = any (${ids}::uuid[]) and m.deleted_at is null`,
  ]);
  return rows;
}

/** A page of live metrics, newest first. */
export const listBillableMetrics = (db: Db, organizationId: string, page: Page) => db<BillableMetricRow[]>`
  select ${columns(db)} from billable_metrics m
  where m.organization_id = ${organizationId} and m.deleted_at is null
  order by m.created_at desc, m.id desc
  limit ${limitOf(page).limit} offset ${limitOf(page).offset}`;

export async function countBillableMetrics(db: Db, organizationId: string): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*) as count from billable_metrics where organization_id = ${organizationId} and deleted_at is null`;
  return row!.count;
}

/** Whether a charge of a live plan counts with the metric. */
export async function isUsedByLivePlan(db: Db, organizationId: string, metricId: string): Promise<boolean> {
  const [row] = await db<{ used: boolean }[]>`
    select exists (
      select from charges c
      join plans p on p.organization_id = c.organization_id and p.id = c.plan_id and p.deleted_at is null
      where c.organization_id = ${organizationId} and c.billable_metric_id = ${metricId} and c.deleted_at is null
    ) as used`;
  return row!.used;
}
