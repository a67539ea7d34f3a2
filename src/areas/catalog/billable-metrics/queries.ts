import { z } from 'zod';
import { AGGREGATION_TYPES } from '../../../engine/metrics/aggregation-types.ts';
import type { FilterValues } from '../../../engine/metrics/choose-filter.ts';
import { ROUNDING_FUNCTIONS } from '../../../engine/metrics/round-units.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { columnsOf, getRow } from '../../../platform/db/rows.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { MetricId } from '../../../platform/ids.ts';
import {
  column,
  computed,
  orAbsent,
  orNull,
  plain,
  type RowOf,
  type StoredOf,
} from '../../../platform/schema/columns.ts';
import { MetricFilters, sortedFilters } from './sorted-filters.ts';

const filtersOfMetric = (db: Db) => db`
  coalesce((
    select jsonb_agg(jsonb_build_object('key', f.key, 'values', f."values") order by f.key)
    from billable_metric_filters f
    where f.organization_id = billable_metric.organization_id and f.billable_metric_id = billable_metric.id
  ), '[]')`;

/** A billable metric as it is stored and shown. */
export const billableMetrics = {
  name: 'billable_metric',
  table: 'billable_metrics',
  columns: {
    id: column.idOf<MetricId>(),
    name: column.text,
    code: column.text,
    description: orNull(column.text),
    aggregation_type: plain(z.enum(AGGREGATION_TYPES)),
    recurring: column.boolean,
    rounding_function: orNull(plain(z.enum(ROUNDING_FUNCTIONS))),
    rounding_precision: orNull(column.integer),
    weighted_interval: orNull(plain(z.literal('seconds'))),
    expression: orAbsent(column.text),
    field_name: orNull(column.text),
    /** UN/ECE recommendation 20, for electronic documents. */
    unit_code: orAbsent(column.text),
    created_at: column.instant,
    filters: computed({ shown: MetricFilters, show: sortedFilters }, filtersOfMetric),
  },
};
export type BillableMetricRow = RowOf<typeof billableMetrics>;
/** Fields of a metric, apart from its identity and its filters. */
export type MetricDefinition = Omit<StoredOf<typeof billableMetrics>, 'id' | 'created_at'>;

/** Values by key that a metric declares: what the filters of charges on it choose from. */
export const declaredValues = ({ filters }: Pick<BillableMetricRow, 'filters'>): FilterValues =>
  Object.fromEntries(filters.map(({ key, values }) => [key, values]));

/** Metrics by id, deleted ones too, in no particular order. */
export const listBillableMetricsById = ({ db, organizationId }: Scope, ids: readonly MetricId[]) => db<
  BillableMetricRow[]
>`
  select ${columnsOf(db, billableMetrics)} from billable_metrics billable_metric
  where organization_id = ${organizationId} and id = any (${ids}::uuid[])`;

/**
 * A live metric by its code, locked against other writes of it; charges made meanwhile wait too.
 *
 * @throws Refusal 404 billable_metric
 */
export async function lockBillableMetricByCode(scope: Scope, code: string): Promise<BillableMetricRow> {
  // Read after the lock is granted: a locking read would show the filters as of before the wait.
  const [, row] = await Promise.all([
    scope.db`
      select id from billable_metrics
      where organization_id = ${scope.organizationId} and code = ${code} and deleted_at is null
      for update`,
    getRow(scope, billableMetrics, code),
  ]);
  return row;
}

/** Live metrics by id, in no particular order; they cannot change before the transaction ends. */
export async function lockBillableMetrics(
  { db, organizationId }: Scope,
  ids: readonly MetricId[],
): Promise<BillableMetricRow[]> {
  const [, rows] = await Promise.all([
    db`
      select id from billable_metrics
      where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and deleted_at is null
      order by id
      for share`,
    db<BillableMetricRow[]>`
      select ${columnsOf(db, billableMetrics)} from billable_metrics billable_metric
      where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and deleted_at is null`,
  ]);
  return rows;
}

/** Whether a charge of a live plan counts with the metric. */
export async function isUsedByLivePlan({ db, organizationId }: Scope, metricId: MetricId): Promise<boolean> {
  const [row] = await db<{ used: boolean }[]>`
    select exists (
      select from charges c
      join plans p on p.organization_id = c.organization_id and p.id = c.plan_id and p.deleted_at is null
      where c.organization_id = ${organizationId} and c.billable_metric_id = ${metricId} and c.deleted_at is null
    ) as used`;
  return row!.used;
}
