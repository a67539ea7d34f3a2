import type { Temporal } from 'temporal-polyfill';
import type { FilterValues } from '../../../engine/metrics/choose-filter.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { trimmedValues } from './filter-values.ts';

/**
 * Brings the charge filters on a metric in line with what it declares now. Rule: usage-and-charges B.4.
 *
 * @returns the plans with a charge on the metric
 */
export async function trimChargeFilters(
  db: Db,
  organizationId: string,
  metricId: string,
  declared: FilterValues,
  now: Temporal.Instant,
): Promise<string[]> {
  const rows = await db<{ plan_id: string; filter_id: string | null; values: FilterValues }[]>`
    select c.plan_id, f.id as filter_id, f."values" from charges c
    left join charge_filters f on f.organization_id = c.organization_id and f.charge_id = c.id and f.deleted_at is null
    where c.organization_id = ${organizationId} and c.billable_metric_id = ${metricId} and c.deleted_at is null`;
  const changed = rows
    .filter(({ filter_id }) => filter_id !== null)
    .map(({ filter_id, values }) => ({ id: filter_id, values, left: trimmedValues(values, declared) ?? null }))
    .filter(({ values, left }) => JSON.stringify(values) !== JSON.stringify(left))
    .map(({ id, left }) => ({ id, left }));
  if (changed.length > 0)
    await db`
      update charge_filters f
      set "values" = coalesce(row."left", f."values"), updated_at = ${now},
        deleted_at = case when row."left" is null then ${now}::timestamptz end
      from jsonb_to_recordset(${changed as never}::jsonb) as row (id uuid, "left" jsonb)
      where f.organization_id = ${organizationId} and f.id = row.id`;
  return [...new Set(rows.map(({ plan_id }) => plan_id))];
}

/**
 * Deletes the charges on a metric and their filters. Rule: usage-and-charges B.4.
 *
 * @returns the plans they belonged to
 */
export async function deleteChargesOfMetric(
  db: Db,
  organizationId: string,
  metricId: string,
  now: Temporal.Instant,
): Promise<string[]> {
  const rows = await db<{ plan_id: string }[]>`
    with gone as (
      update charges set deleted_at = ${now}, updated_at = ${now}
      where organization_id = ${organizationId} and billable_metric_id = ${metricId} and deleted_at is null
      returning id, plan_id
    ), filters as (
      update charge_filters f set deleted_at = ${now}, updated_at = ${now} from gone
      where f.organization_id = ${organizationId} and f.charge_id = gone.id and f.deleted_at is null
    )
    select distinct plan_id from gone`;
  return rows.map(({ plan_id }) => plan_id);
}
