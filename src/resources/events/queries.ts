import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../platform/db/connect.ts';
import { limitOf, type Page } from '../../platform/lists/pagination.ts';
import { refuse } from '../../platform/refusal.ts';
import { isoText } from './iso-text.ts';
import type { EventListQuery } from './schema.ts';
import type { ShownEvent } from './view.ts';

const columns = (db: Db) => db`
  id, transaction_id, external_subscription_id, code, ${isoText(db, db`timestamp`)} as timestamp,
  properties::text as properties, trim_scale(precise_total_amount_cents)::text as precise_total_amount_cents,
  ${isoText(db, db`created_at`)} as created_at`;

/**
 * The event with a transaction id; when several subscriptions share it, the one created last.
 *
 * @throws Refusal 404 event
 */
export async function getEvent(db: Db, organizationId: string, transactionId: string): Promise<ShownEvent> {
  const [row] = await db<ShownEvent[]>`
    select ${columns(db)} from events e
    where organization_id = ${organizationId} and transaction_id = ${transactionId} and deleted_at is null
    order by e.created_at desc, id desc
    limit 1`;
  if (!row) throw refuse.notFound('event');
  return row;
}

export const listEventsById = (db: Db, organizationId: string, ids: readonly string[]) => db<ShownEvent[]>`
  select ${columns(db)} from events
  where organization_id = ${organizationId} and id = any (${ids as string[]}::uuid[]) and deleted_at is null`;

type Filters = Omit<EventListQuery, 'timestamp_from_started_at' | keyof Page>;

const matches = (db: Db, organizationId: string, filters: Filters) => db`
  organization_id = ${organizationId} and deleted_at is null
  ${filters.code === undefined ? db`` : db`and code = ${filters.code}`}
  ${filters.external_subscription_id === undefined ? db`` : db`and external_subscription_id = ${filters.external_subscription_id}`}
  ${filters.transaction_id === undefined ? db`` : db`and transaction_id = ${filters.transaction_id}`}
  ${filters.timestamp_from === undefined ? db`` : db`and timestamp >= ${filters.timestamp_from}`}
  ${filters.timestamp_to === undefined ? db`` : db`and timestamp < ${filters.timestamp_to}`}`;

/** A page of events, newest timestamp first. Rule: usage-and-charges A.8. */
export const listEvents = (db: Db, organizationId: string, filters: Filters, page: Page) => db<ShownEvent[]>`
  select ${columns(db)} from events e
  where ${matches(db, organizationId, filters)}
  order by e.timestamp desc, transaction_id, id desc
  limit ${limitOf(page).limit} offset ${limitOf(page).offset}`;

export interface EnrichedEvent extends ShownEvent {
  /** Text of the property that the metric reads; "1" where it counts, null without metric or property. */
  value: string | null;
}

/** A page of events in the order of the list, with the values that their live metrics read. */
export const listEnrichedEvents = (db: Db, organizationId: string, filters: Filters, page: Page) => db<EnrichedEvent[]>`
  select e.*, case metric.aggregation_type when 'count_agg' then '1' else e.properties::jsonb ->> metric.field_name end as value
  from (
    select ${columns(db)}, timestamp as ordered_by from events e
    where ${matches(db, organizationId, filters)}
    order by e.timestamp desc, transaction_id, id desc
    limit ${limitOf(page).limit} offset ${limitOf(page).offset}
  ) e
  left join billable_metrics metric on metric.organization_id = ${organizationId} and metric.code = e.code
    and metric.deleted_at is null
  order by e.ordered_by desc, e.transaction_id, e.id desc`;

export async function countEvents(db: Db, organizationId: string, filters: Filters): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*) as count from events where ${matches(db, organizationId, filters)}`;
  return row!.count;
}

/** Start of the most recent subscription with an external id; null when none has started. */
export async function findLatestStart(
  db: Db,
  organizationId: string,
  externalSubscriptionId: string,
): Promise<Temporal.Instant | null> {
  const [row] = await db<{ started_at: Temporal.Instant }[]>`
    select started_at from subscriptions
    where organization_id = ${organizationId} and external_id = ${externalSubscriptionId} and started_at is not null
    order by started_at desc, id desc
    limit 1`;
  return row?.started_at ?? null;
}
