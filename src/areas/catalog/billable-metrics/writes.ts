import type { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { ExternalSubscriptionId, MetricId } from '../../../platform/ids.ts';
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
    ), stored as (
      insert into billable_metric_filters (id, organization_id, billable_metric_id, key, "values", created_at,
        updated_at)
      select id, ${organizationId}::uuid, ${metricId}::uuid, key, "values", ${now}, ${now}
      from jsonb_to_recordset(${json(rows)}::jsonb) as row (id uuid, key text, "values" text[])
      on conflict on constraint billable_metric_filters_key_key
      do update set "values" = excluded."values", updated_at = excluded.updated_at
      returning true
    )
    select count(*) from stored`;
}

/** Marks a metric deleted and drops its filters. */
export const markBillableMetricDeleted = ({ db, organizationId }: Scope, id: MetricId, now: Temporal.Instant) => db`
  with gone as (
    delete from billable_metric_filters where organization_id = ${organizationId} and billable_metric_id = ${id}
  )
  update billable_metrics set deleted_at = ${now}, updated_at = ${now}
  where organization_id = ${organizationId} and id = ${id}`;

/** How far the events of a deleted metric are marked: up to an instant of this subscription, and all before it. */
export interface MarkedUpTo {
  external_subscription_id: ExternalSubscriptionId;
  timestamp: string;
}

/** Subscriptions that a page looks at: those without an event cost a few blocks each. */
const SUBSCRIPTIONS = 1000;

/**
 * Marks a page of events of a deleted metric's code deleted, on the subscriptions of plans that lost a charge with it,
 * one subscription after the other by their ids. A page reads the events that it marks and no others, however many
 * there are.
 *
 * beforeId  events stored later belong to a new metric of the same code
 * after     where the page before ended; absent for the first one
 * limit     events of a page
 * @returns how many were marked, and where the next page begins, if there may be one
 */
export async function markEventsOfMetricDeleted(
  { db, organizationId }: Scope,
  metric: { id: MetricId; code: string },
  options: { beforeId: string; after: MarkedUpTo | undefined; now: Temporal.Instant; limit: number },
): Promise<{ marked: number; next: MarkedUpTo | undefined }> {
  const { beforeId, now, limit, after = { external_subscription_id: '', timestamp: '-infinity' } } = options;
  const [page] = await db<[{ marked: number; is_last: boolean; last: MarkedUpTo }]>`
    with recursive plan as materialized (
      select array_agg(distinct c.plan_id) as ids
      from billable_metrics m
      join charges c on c.organization_id = m.organization_id and c.billable_metric_id = m.id
        and c.deleted_at = m.deleted_at
      where m.organization_id = ${organizationId} and m.id = ${metric.id}
    ), walk as (
      select 0 as place, ${after.external_subscription_id}::text as external_id, chosen.ids,
        coalesce(cardinality(chosen.ids), 0) as total, chosen.last
      from (
        select array_agg(e.id) as ids, max(e.timestamp) as last from (
          select id, timestamp from events
          where organization_id = ${organizationId} and external_subscription_id = ${after.external_subscription_id}
            and code = ${metric.code} and deleted_at is null and timestamp >= ${after.timestamp}::timestamptz
            and id < ${beforeId}
          order by timestamp limit ${limit}) e
      ) chosen
      union all
      select walk.place + 1, following.external_id, chosen.ids,
        walk.total + coalesce(cardinality(chosen.ids), 0), chosen.last
      from walk
      cross join lateral (
        select s.external_id from subscriptions s
        where s.organization_id = ${organizationId} and s.external_id > walk.external_id
          and s.plan_id = any ((select ids from plan)::uuid[])
        order by s.external_id limit 1
      ) following
      cross join lateral (
        select array_agg(e.id) as ids, max(e.timestamp) as last from (
          select id, timestamp from events
          where organization_id = ${organizationId} and external_subscription_id = following.external_id
            and code = ${metric.code} and deleted_at is null and id < ${beforeId}
          order by timestamp limit ${limit} - walk.total) e
      ) chosen
      where walk.total < ${limit} and walk.place < ${SUBSCRIPTIONS}
    ), marked as (
      update events set deleted_at = ${now}
      where organization_id = ${organizationId} and deleted_at is null
        and id = any (array(select unnest(walk.ids) from walk))
      returning 1
    )
    select (select count(*) from marked)::int as marked,
      last.total < ${limit} and last.place < ${SUBSCRIPTIONS} as is_last,
      json_build_object('external_subscription_id', last.external_id,
        'timestamp', coalesce(last.last, 'infinity')) as last
    from walk last order by last.place desc limit 1`;
  return { marked: page.marked, next: page.is_last ? undefined : page.last };
}
