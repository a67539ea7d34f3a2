import type { Temporal } from 'temporal-polyfill';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import { isoText } from '../../../platform/db/iso-text.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { EventId, ExternalSubscriptionId } from '../../../platform/ids.ts';
import { countMatching, MOST_LOOKED_AT, type Total } from '../../../platform/lists/count.ts';
import { limitOf, type Page } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { EventPlace } from './cursor.ts';
import { eventsOfTransaction } from './event-key.ts';
import { isLive, isLiveInOrder, isLiveOfCode } from './live-events.ts';
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
export async function getEvent(scope: Scope, transactionId: string): Promise<ShownEvent> {
  const event = await findEvent(scope, transactionId);
  if (!event) throw refuse.notFound('event');
  return event;
}

/** The same of one subscription, if it is named. */
export async function findEvent(
  scope: Scope,
  transactionId: string,
  externalSubscriptionId?: ExternalSubscriptionId,
): Promise<ShownEvent | undefined> {
  const { db } = scope;
  const [row] = await db<ShownEvent[]>`
    select ${columns(db)} from (select e.* from ${eventsOfTransaction(scope, transactionId, externalSubscriptionId)}) e
    where ${isLive(db, db`e`)}
    order by e.created_at desc, e.id desc
    limit 1`;
  return row;
}

/** Live events with one of some transaction ids, the one created last at the end. */
export const listEventsOfTransactions = (
  scope: Scope,
  transactionIds: readonly string[],
  externalSubscriptionId?: ExternalSubscriptionId,
) => {
  const { db } = scope;
  const each = transactionIds
    .map((id) => db`select e.* from ${eventsOfTransaction(scope, id, externalSubscriptionId)}`)
    .reduce((all, one) => db`${all} union all ${one}`);
  return db<ShownEvent[]>`
    select ${columns(db)} from (${each}) e where ${isLive(db, db`e`)} order by e.created_at, e.id`;
};

export const listEventsById = ({ db, organizationId }: Scope, ids: readonly EventId[]) => db<ShownEvent[]>`
  select ${columns(db)} from events e
  where organization_id = ${organizationId} and id = any (${ids}::uuid[]) and ${isLive(db, db`e`)}`;

type Filters = Omit<EventListQuery, 'timestamp_from_started_at' | 'after' | keyof Page>;

/** The requested events of a list: a page by its number, or those after a position. */
export interface EventPage extends Page {
  after: EventPlace | null;
}

/** Where the events `e` of a list are read. */
const eventsOfList = (scope: Scope, { transaction_id: id, external_subscription_id: subscription }: Filters) =>
  id === undefined ? scope.db`events e` : scope.db`(select e.* from ${eventsOfTransaction(scope, id, subscription)}) e`;

const matches = (scope: Scope, filters: Filters) => scope.db`
  ${isAskedFor(scope, filters)} and ${isLiveInList(scope.db, filters)}`;

/** In the words of the index that has these events in the order of the list. */
function isLiveInList(db: Db, filters: Filters): Fragment {
  if (filters.transaction_id !== undefined) return isLive(db, db`e`);
  if (filters.external_subscription_id !== undefined) return db`e.deleted_at is null`;
  return filters.code === undefined ? isLiveInOrder(db) : isLiveOfCode(db);
}

const isAskedFor = ({ db, organizationId }: Scope, filters: Filters) => db`
  e.organization_id = ${organizationId}
  ${filters.code === undefined ? db`` : db`and e.code = ${filters.code}`}
  ${filters.external_subscription_id === undefined ? db`` : db`and e.external_subscription_id = ${filters.external_subscription_id}`}
  ${filters.timestamp_from === undefined ? db`` : db`and e.timestamp >= ${filters.timestamp_from}`}
  ${filters.timestamp_to === undefined ? db`` : db`and e.timestamp < ${filters.timestamp_to}`}`;

/**
 * The order of the index, from which the first rows are taken before they are sorted: to sort all that match costs the
 * same where Postgres expects one row.
 */
const inOrderOfIndex = (db: Db, { external_subscription_id, transaction_id }: Filters) =>
  external_subscription_id === undefined && transaction_id === undefined
    ? db`order by e.timestamp desc, e.transaction_id`
    : db`order by e.timestamp desc`;

/** Rule: lists.md#filters-and-order. */
const inOrder = (db: Db) => db`order by e.timestamp desc, e.transaction_id, e.id desc`;

/**
 * A page of events, newest timestamp first.
 *
 * @throws Refusal 422 as `listCodes` and `pageOfEvents`
 * Rule: events.md#lists.
 */
export async function listEvents(scope: Scope, filters: Filters, page: EventPage): Promise<ShownEvent[]> {
  const codes = await listCodes(scope, filters);
  return scope.db<ShownEvent[]>`
    select ${columns(scope.db)} from ${pageOfEvents(scope, filters, page, codes)} ${inOrder(scope.db)}`;
}

export interface EnrichedEvent extends ShownEvent {
  /** Text of the property that the metric reads; "1" if it counts events, null without metric or property. */
  value: string | null;
}

/**
 * A page of events in the order of the list, with the values that their live metrics read.
 *
 * @throws Refusal 422 as `listCodes` and `pageOfEvents`
 */
export async function listEnrichedEvents(scope: Scope, filters: Filters, page: EventPage): Promise<EnrichedEvent[]> {
  const codes = await listCodes(scope, filters);
  return scope.db<EnrichedEvent[]>`
  select e.*, case metric.aggregation_type
    when 'count_agg' then '1' else e.properties::jsonb ->> metric.field_name end as value
  from (
    select ${columns(scope.db)}, timestamp as ordered_by from ${pageOfEvents(scope, filters, page, codes)}
  ) e
  left join billable_metrics metric on metric.organization_id = ${scope.organizationId} and metric.code = e.code
    and metric.deleted_at is null
  order by e.ordered_by desc, e.transaction_id, e.id desc`;
}

/** Of how many codes a subscription may have events that are listed together: each is looked up, in some 20 µs. */
export const MOST_CODES = 5000;
/** How many events of a subscription are read at most for one page, in about a second. */
const MOST_READ = 1_000_000;

/**
 * The rows `e` of a page.
 *
 * codes  those of the subscription, where its events are looked for code by code
 *
 * @throws Refusal 422 page: value_is_out_of_range, so deep among the events of many codes that too many would be read
 */
function pageOfEvents(scope: Scope, filters: Filters, page: EventPage, codes: readonly string[]): Fragment {
  const { db } = scope;
  const { limit, offset } = limitOf(page.after === null ? page : { ...page, page: 1 });
  const most = offset + limit;
  const few = Math.ceil(Math.sqrt(most));
  if (Math.min(codes.length, few) * most > MOST_READ) throw refuse.invalid({ page: ['value_is_out_of_range'] });
  const first = isByCode(filters)
    ? firstOfCodes(scope, filters, { after: page.after, most, few, codes })
    : firstEvents(scope, filters, { after: page.after, most: db`${most}` });
  return db`(select * from ${first} ${inOrder(db)} limit ${limit} offset ${offset}) e`;
}

/** Whether events are looked for code by code, as the index of a subscription has them. */
const isByCode = ({ external_subscription_id: subscription, code, transaction_id }: Filters): boolean =>
  subscription !== undefined && code === undefined && transaction_id === undefined;

/**
 * The first `most` events `e` after a position. Those of its instant and older ones are read separately: each is one
 * range of an index, however many events share an instant.
 */
function firstEvents(
  scope: Scope,
  filters: Filters,
  { after, most, code }: { after: EventPlace | null; most: Fragment; code?: Fragment },
): Fragment {
  const { db } = scope;
  const first = (where: Fragment) => db`
    (select * from (
      select * from ${eventsOfList(scope, filters)}
      where ${matches(scope, filters)} ${code === undefined ? db`` : db`and e.code = ${code}`} ${where}
      ${inOrderOfIndex(db, filters)} fetch first (${most}::int) rows with ties
    ) e ${inOrder(db)} limit ${most})`;
  if (after === null) return db`${first(db``)} e`;
  const { timestamp, transaction_id, id } = after;
  return db`
    (select * from (
      ${first(db`
        and e.timestamp = ${timestamp}::timestamptz and e.transaction_id >= ${transaction_id}
        and (e.transaction_id > ${transaction_id} or e.id < ${id}::uuid)`)}
      union all
      ${first(db`and e.timestamp < ${timestamp}::timestamptz`)}
    ) e ${inOrder(db)} limit ${most}) e`;
}

/**
 * The first `most` events `e` of a subscription, whose index has them code by code, and which lie far apart in the
 * order of the organization. Only codes whose newest event is among the first `most` newest ones can have any of them,
 * and of these only the ones of whose first few events each is among the first `most` have more: for 20 of 2 000 codes
 * 2 000 events, 5 each of 20 codes, and 20 each of at most 4.
 */
function firstOfCodes(
  scope: Scope,
  filters: Filters,
  { after, most, few, codes }: { after: EventPlace | null; most: number; few: number; codes: readonly string[] },
): Fragment {
  const { db } = scope;
  const ofCode = (code: Fragment, count: number) => firstEvents(scope, filters, { after, most: db`${count}`, code });
  return db`
    (with newest as (
      select listed.code
      from ${listed(db, codes)}
      cross join lateral (select e.timestamp, e.transaction_id, e.id from ${ofCode(db`listed.code`, 1)}) e
      ${inOrder(db)} limit ${most}
    ), few as (
      select e.id, e.code, row_number() over (partition by e.code ${inOrder(db)}) as place,
        row_number() over (${inOrder(db)}) as rank
      from newest
      cross join lateral (select e.id, e.code, e.timestamp, e.transaction_id from ${ofCode(db`newest.code`, few)}) e
    ), more as (
      select code from few where place = ${few} and rank <= ${most}
    )
    select e.* from few
    cross join lateral (
      select * from events e where e.organization_id = ${scope.organizationId} and e.id = few.id limit 1) e
    where few.rank <= ${most} and few.code not in (select code from more)
    union all
    select e.* from more cross join lateral (select * from ${ofCode(db`more.code`, most)}) e) e`;
}

/**
 * Codes of a subscription's live events, by one probe of the index each; none where they are not needed.
 *
 * @throws Refusal 422 code: value_is_mandatory, if there are more than MOST_CODES
 */
async function listCodes({ db, organizationId }: Scope, filters: Filters): Promise<string[]> {
  if (!isByCode(filters)) return [];
  const ofSubscription = db`
    organization_id = ${organizationId} and external_subscription_id = ${filters.external_subscription_id!}
    and deleted_at is null`;
  const rows = await db<{ code: string }[]>`
    with recursive next as (
      (select code from events where ${ofSubscription} order by code limit 1)
      union all
      select (select code from events where ${ofSubscription} and code > next.code order by code limit 1)
      from next where next.code is not null
    )
    select code from next where code is not null limit ${MOST_CODES + 1}`;
  if (rows.length > MOST_CODES) throw refuse.invalid({ code: ['value_is_mandatory'] });
  return rows.map(({ code }) => code);
}

const listed = (db: Db, codes: readonly string[]) => db`unnest(${codes}::text[]) as listed (code)`;

/** By their instants alone: what shares one need not be sorted before it is counted. */
function countedEvents(scope: Scope, filters: Filters, codes: readonly string[]): Fragment {
  const { db } = scope;
  const first = (code: Fragment) => db`
    (select from ${eventsOfList(scope, filters)} where ${matches(scope, filters)} ${code}
    order by e.timestamp desc limit ${MOST_LOOKED_AT}) e`;
  if (!isByCode(filters)) return first(db``);
  return db`
    (select from ${listed(db, codes)}
    cross join lateral (select from ${first(db`and e.code = listed.code`)}) e) e`;
}

/** @throws Refusal 422 code: value_is_mandatory, for a subscription with events of more than MOST_CODES codes */
export async function countEvents(scope: Scope, filters: Filters): Promise<Total> {
  const codes = await listCodes(scope, filters);
  const first = countedEvents(scope, filters, codes);
  // An estimate, for which Postgres has statistics of the column.
  const all = scope.db`
    ${eventsOfList(scope, filters)} where ${isAskedFor(scope, filters)} and e.deleted_at is null`;
  return countMatching(scope.db, all, first);
}

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
