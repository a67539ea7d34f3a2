import type { FilterValues } from '../../../engine/metrics/choose-filter.ts';
import type { Context } from '../../../platform/context.ts';
import { json } from '../../../platform/db/values.ts';
import type { ChargeFilterId, PlanId } from '../../../platform/ids.ts';
import type { PayloadOf } from '../../../platform/reactions.ts';
import type { metricDeleted, metricFiltersChanged } from '../announcements.ts';
import { flagDraftInvoicesOfPlans } from '../flag-drafts.ts';
import { trimmedValues } from './filter-values.ts';

/**
 * Brings the charge filters on a metric in line with what it declares now. Rule: billable-metrics.md#update-and-delete.
 */
export async function trimChargeFilters(
  ctx: Context,
  { billable_metric_id: metricId, declared }: PayloadOf<typeof metricFiltersChanged>,
): Promise<void> {
  const { db, organizationId } = ctx;
  const now = ctx.now();
  const rows = await db<{ plan_id: PlanId; filter_id: ChargeFilterId | null; values: FilterValues }[]>`
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
      from jsonb_to_recordset(${json(changed)}::jsonb) as row (id uuid, "left" jsonb)
      where f.organization_id = ${organizationId} and f.id = row.id`;
  const planIds = [...new Set(rows.map(({ plan_id }) => plan_id))];
  await flagDraftInvoicesOfPlans(ctx, planIds, now);
}

/** Deletes the charges on a deleted metric and their filters. Rule: billable-metrics.md#update-and-delete. */
export async function deleteChargesOfMetric(
  ctx: Context,
  { billable_metric_id: metricId }: PayloadOf<typeof metricDeleted>,
): Promise<void> {
  const { db, organizationId } = ctx;
  const now = ctx.now();
  const rows = await db<{ plan_id: PlanId }[]>`
    with gone as (
      update charges set deleted_at = ${now}, updated_at = ${now}
      where organization_id = ${organizationId} and billable_metric_id = ${metricId} and deleted_at is null
      returning id, plan_id
    ), filters as (
      update charge_filters f set deleted_at = ${now}, updated_at = ${now} from gone
      where f.organization_id = ${organizationId} and f.charge_id = gone.id and f.deleted_at is null
    )
    select distinct plan_id from gone`;
  const planIds = rows.map(({ plan_id }) => plan_id);
  await flagDraftInvoicesOfPlans(ctx, planIds, now);
}
