import type { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { MetricId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import type { MetricFilter } from './sorted-filters.ts';

/** Gives a metric exactly these filters: those of the same key are rewritten, others removed. */
export async function replaceMetricFilters(
  { db, organizationId }: Scope,
  metricId: MetricId,
  { filters, now }: { filters: readonly MetricFilter[]; now: Temporal.Instant },
): Promise<void> {
  const rows = filters.map((filter) => ({ id: newId(), ...filter }));
  await db`
    with gone as (
      delete from billable_metric_filters
      where organization_id = ${organizationId} and billable_metric_id = ${metricId}
        and key <> all (${filters.map(({ key }) => key)})
    )
    insert into billable_metric_filters (id, organization_id, billable_metric_id, key, "values", created_at, updated_at)
    select id, ${organizationId}::uuid, ${metricId}::uuid, key, "values", ${now}, ${now}
    from jsonb_to_recordset(${json(rows)}::jsonb) as row (id uuid, key text, "values" text[])
    on conflict on constraint billable_metric_filters_key_key
    do update set "values" = excluded."values", updated_at = excluded.updated_at`;
}

/** Marks a metric deleted and drops its filters. */
export const markBillableMetricDeleted = ({ db, organizationId }: Scope, id: MetricId, now: Temporal.Instant) => db`
  with gone as (
    delete from billable_metric_filters where organization_id = ${organizationId} and billable_metric_id = ${id}
  )
  update billable_metrics set deleted_at = ${now}, updated_at = ${now}
  where organization_id = ${organizationId} and id = ${id}`;

/**
 * Marks events of a deleted metric's code deleted, on the subscriptions of plans that lost a charge with it; at most
 * `limit`.
 *
 * @param beforeId events stored later belong to a new metric of the same code
 * @returns how many
 */
export async function markEventsOfMetricDeleted(
  { db, organizationId }: Scope,
  metricId: MetricId,
  options: { beforeId: string; now: Temporal.Instant; limit: number },
): Promise<number> {
  const result = await db`
    with chosen as (
      select e.id from billable_metrics m
      join lateral (
        select distinct s.external_id from charges c
        join subscriptions s on s.organization_id = c.organization_id and s.plan_id = c.plan_id
        where c.organization_id = m.organization_id and c.billable_metric_id = m.id and c.deleted_at = m.deleted_at
      ) used on true
      join events e on e.organization_id = m.organization_id and e.external_subscription_id = used.external_id
        and e.code = m.code and e.deleted_at is null and e.id < ${options.beforeId}
      where m.organization_id = ${organizationId} and m.id = ${metricId} and m.deleted_at is not null
      limit ${options.limit}
      for update of e
    )
    update events set deleted_at = ${options.now} from chosen
    where events.organization_id = ${organizationId} and events.id = chosen.id`;
  return result.count;
}
