import type { Temporal } from 'temporal-polyfill';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import { isoText } from '../../../platform/db/iso-text.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { EventId, ExternalSubscriptionId } from '../../../platform/ids.ts';
import { countMatching, MOST_LOOKED_AT, type Total } from '../../../platform/lists/count.ts';
import { limitOf, type Page } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { EventPlace } from './cursor.ts';
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
export async function getEvent({ db, organizationId }: Scope, transactionId: string): Promise<ShownEvent> {
  const [row] = await db<ShownEvent[]>`
    select ${columns(db)} from events e
    where organization_id = ${organizationId} and transaction_id = ${transactionId} and deleted_at is null
    order by e.created_at desc, id desc
    limit 1`;
  if (!row) throw refuse.notFound('event');
  return row;
}

export const listEventsById = ({ db, organizationId }: Scope, ids: readonly EventId[]) => db<ShownEvent[]>`
  select ${columns(db)} from events
  where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and deleted_at is null`;

type Filters = Omit<EventListQuery, 'timestamp_from_started_at' | 'after' | keyof Page>;

/** The requested events of a list: a page by its number, or those after a position. */
export interface EventPage extends Page {
  after: EventPlace | null;
}

const matches = ({ db, organizationId }: Scope, filters: Filters) => db`
  e.organization_id = ${organizationId} and e.deleted_at is null
  ${filters.code === undefined ? db`` : db`and e.code = ${filters.code}`}
  ${filters.external_subscription_id === undefined ? db`` : db`and e.external_subscription_id = ${filters.external_subscription_id}`}
  ${filters.transaction_id === undefined ? db`` : db`and e.transaction_id = ${filters.transaction_id}`}
  ${filters.timestamp_from === undefined ? db`` : db`and e.timestamp >= ${filters.timestamp_from}`}
  ${filters.timestamp_to === undefined ? db`` : db`and e.timestamp < ${filters.timestamp_to}`}`;

/** Rule: lists.md#filters-and-order. */
const inOrder = (db: Db) => db`order by e.timestamp desc, e.transaction_id, e.id desc`;

/** A page of events, newest timestamp first. Rule: events.md#lists. */
export const listEvents = (scope: Scope, filters: Filters, page: EventPage) => scope.db<ShownEvent[]>`
  select ${columns(scope.db)} from ${pageOfEvents(scope, filters, page)} ${inOrder(scope.db)}`;

export interface EnrichedEvent extends ShownEvent {
  /** Text of the property that the metric reads; "1" if it counts events, null without metric or property. */
  value: string | null;
}

/** A page of events in the order of the list, with the values that their live metrics read. */
export const listEnrichedEvents = (scope: Scope, filters: Filters, page: EventPage) => scope.db<EnrichedEvent[]>`
  select e.*, case metric.aggregation_type
    when 'count_agg' then '1' else e.properties::jsonb ->> metric.field_name end as value
  from (
    select ${columns(scope.db)}, timestamp as ordered_by from ${pageOfEvents(scope, filters, page)}
  ) e
  left join billable_metrics metric on metric.organization_id = ${scope.organizationId} and metric.code = e.code
    and metric.deleted_at is null
  order by e.ordered_by desc, e.transaction_id, e.id desc`;

/**
 * The rows `e` of a page. After a position, events of its instant and older ones are read separately: each is one range
 * of an index, however many events share an instant.
 */
function pageOfEvents(scope: Scope, filters: Filters, page: EventPage): Fragment {
  const { db } = scope;
  const { limit, offset } = page.after === null ? limitOf(page) : { limit: page.per_page, offset: 0 };
  const ordered = db`${inOrder(db)} limit ${offset + limit}`;
  const first = (where: Fragment) => firstEvents(scope, filters, { where, ordered });
  if (page.after === null) return db`(select * from ${first(db``)} ${inOrder(db)} limit ${limit} offset ${offset}) e`;
  const { timestamp, transaction_id, id } = page.after;
  return db`
    (select * from (
      select * from ${first(db`
        and e.timestamp = ${timestamp}::timestamptz and e.transaction_id >= ${transaction_id}
        and (e.transaction_id > ${transaction_id} or e.id < ${id}::uuid)`)}
      union all
      select * from ${first(db`and e.timestamp < ${timestamp}::timestamptz`)}
    ) e ${inOrder(db)} limit ${limit}) e`;
}

/**
 * The first events `e` of a list, by an order with its limit. Of a subscription they are looked for code by code, as
 * its index has them, as many of each: it has few, and its events lie far apart in the order of the organization.
 */
function firstEvents(
  scope: Scope,
  filters: Filters,
  { where, ordered }: { where: Fragment; ordered: Fragment },
): Fragment {
  const { external_subscription_id: subscription, code, transaction_id } = filters;
  if (subscription === undefined || code !== undefined || transaction_id !== undefined)
    return scope.db`(select * from events e where ${matches(scope, filters)} ${where} ${ordered}) e`;
  return scope.db`
    (select e.* from (${codesOf(scope, subscription)}) listed
    cross join lateral (
      select * from events e where ${matches(scope, filters)} and e.code = listed.code ${where} ${ordered}
    ) e) e`;
}

/** Codes of a subscription's events, by one probe of the index each. */
const codesOf = ({ db, organizationId }: Scope, externalSubscriptionId: ExternalSubscriptionId) => db`
  with recursive next as (
    (select code from events
      where organization_id = ${organizationId} and external_subscription_id = ${externalSubscriptionId}
      order by code limit 1)
    union all
    select (select code from events
      where organization_id = ${organizationId} and external_subscription_id = ${externalSubscriptionId}
        and code > next.code
      order by code limit 1)
    from next where next.code is not null
  )
  select code from next where code is not null`;

export const countEvents = (scope: Scope, filters: Filters): Promise<Total> =>
  countMatching(
    scope.db,
    scope.db`events e where ${matches(scope, filters)}`,
    // By their instants alone: what shares one need not be sorted before it is counted.
    firstEvents(scope, filters, {
      where: scope.db``,
      ordered: scope.db`order by e.timestamp desc limit ${MOST_LOOKED_AT}`,
    }),
  );

/** Start of the most recent subscription with an external id; null when none has started. */
export async function findLatestStart(
  { db, organizationId }: Scope,
  externalSubscriptionId: ExternalSubscriptionId,
): Promise<Temporal.Instant | null> {
  const [row] = await db<{ started_at: Temporal.Instant }[]>`
    select started_at from subscriptions
    where organization_id = ${organizationId} and external_id = ${externalSubscriptionId} and started_at is not null
    order by started_at desc, id desc
    limit 1`;
  return row?.started_at ?? null;
}
