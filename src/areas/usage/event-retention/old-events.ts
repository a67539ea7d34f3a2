import type { Temporal } from 'temporal-polyfill';
import type { Db, Fragment, Sql } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { type EventId, type ExternalSubscriptionId, firstIdAt, type OrganizationId } from '../../../platform/ids.ts';
import { type ArchivedEvent, archivedColumns } from './archived-event.ts';

/** Closed subscriptions whose events one round looks for. */
export const SUBSCRIPTIONS_A_ROUND = 200;
/** After a time was closed, whoever had begun to work in it gets this long to end. */
const ENDED_AFTER_MINUTES = 60;
/** Owed work that reads the events of billed windows, or bills single events. */
const WORK_ON_EVENTS = [
  'bill-in-advance',
  'retract-range',
  'settle-correction',
  'settle-late-events',
  'look-for-late-events',
  'settle-gathered-late-events',
  'look-at-late-events',
  'reopen-late-correction',
  'rematch-events',
  'delete-metric-events',
];

export interface OldEvents {
  ids: readonly ExternalSubscriptionId[];
  /** Events that came at this instant or later stay. */
  until: Temporal.Instant;
}

/** Closed subscriptions whose events are to be removed, in order; at most a round of them. */
export const listDue = (
  { db, organizationId }: Scope,
  after: ExternalSubscriptionId,
  now: Temporal.Instant,
): PromiseLike<{ id: ExternalSubscriptionId; closed_before: Temporal.Instant }[]> => db`
  select external_subscription_id as id, closed_before from event_horizons
  where organization_id = ${organizationId} and removed_before is distinct from closed_before
    and external_subscription_id > ${after} and closed_at < ${now.subtract({ minutes: ENDED_AFTER_MINUTES })}
  order by external_subscription_id limit ${SUBSCRIPTIONS_A_ROUND}`;

/** Whether work is owed that began before its time was closed and may still read it. */
export async function hasOldWork({ db, organizationId }: Scope, now: Temporal.Instant): Promise<boolean> {
  const before = now.subtract({ minutes: ENDED_AFTER_MINUTES });
  const [row] = await db<{ waits: boolean }[]>`
    select exists (
        select from after_steps
        where organization_id = ${organizationId} and created_at < ${before} and job = any (${WORK_ON_EVENTS}))
      or exists (
        select from event_batches
        where organization_ids @> array[${organizationId}::uuid] and created_at < ${before}) as waits`;
  return row!.waits;
}

/**
 * SQL after `from`: events `e` of closed times that nothing needs. Open unmatched ones stay; so do those in the hour in
 * which a subscription begins or ends, since sums of a whole life read it event by event.
 */
const oldEvents = ({ db, organizationId }: Scope, { ids, until }: OldEvents, state: Fragment): Fragment => db`
  event_horizons horizon
  cross join lateral (
    with recursive next as (
      (select e.code from events e
        where e.organization_id = ${organizationId} and e.external_subscription_id = horizon.external_subscription_id
          and ${state}
        order by e.code limit 1)
      union all
      select (select e.code from events e
        where e.organization_id = ${organizationId} and e.external_subscription_id = horizon.external_subscription_id
          and ${state} and e.code > next.code
        order by e.code limit 1)
      from next where next.code is not null
    )
    select next.code from next where next.code is not null and next.code <> all (horizon.kept_codes)
  ) known
  cross join lateral (
    select array_agg(distinct date_trunc('hour', edge.at, 'UTC')) as edges
    from subscriptions s cross join lateral (values (s.started_at), (s.terminated_at)) as edge (at)
    where s.organization_id = ${organizationId} and s.external_id = horizon.external_subscription_id
      and edge.at <> date_trunc('hour', edge.at, 'UTC')
  ) life
  cross join lateral (
    select * from events e
    where e.organization_id = ${organizationId} and e.external_subscription_id = horizon.external_subscription_id
      and e.code = known.code and e.timestamp < horizon.closed_before and ${state}
      and e.id < ${firstIdAt(until)}::uuid
      and (life.edges is null or date_trunc('hour', e.timestamp, 'UTC') <> all (life.edges))
      and not exists (
        select from unmatched_events unmatched
        where unmatched.organization_id = ${organizationId} and unmatched.event_id = e.id
          and unmatched.status = 'open')
    offset 0
  ) e
  where horizon.organization_id = ${organizationId} and horizon.external_subscription_id = any (${ids}::text[])`;

/** Live events and retracted ones are each in an index of their own. */
const STATES = ['live', 'retracted'] as const;
const stateOf = (db: Db, state: (typeof STATES)[number]): Fragment =>
  state === 'live' ? db`e.deleted_at is null` : db`e.deleted_at is not null`;

/** At most `limit` old events, page by page, in a transaction. */
export async function* readOldEvents(
  scope: Scope,
  old: OldEvents,
  { limit, page }: { limit: number; page: number },
): AsyncGenerator<ArchivedEvent[]> {
  let left = limit;
  for (const state of STATES) {
    if (left === 0) return;
    const rows = scope.db<ArchivedEvent[]>`
      select ${archivedColumns(scope.db)} from ${oldEvents(scope, old, stateOf(scope.db, state))} limit ${left}`;
    for await (const events of rows.cursor(page)) {
      left -= events.length;
      yield events;
    }
  }
}

export interface NamedVersion {
  id: EventId;
  version: number;
}

/** Ids of at most `limit` old events. */
export async function listOldEvents(scope: Scope, old: OldEvents, limit: number): Promise<NamedVersion[]> {
  const found: NamedVersion[] = [];
  for (const state of STATES)
    if (found.length < limit)
      found.push(
        ...(await scope.db<NamedVersion[]>`
          select e.id, e.version from ${oldEvents(scope, old, stateOf(scope.db, state))}
          limit ${limit - found.length}`),
      );
  return found;
}

/** Removes events with their earlier versions, and keeps how many there were; one that was changed since stays. */
export async function removeEvents({ db, organizationId }: Scope, events: readonly NamedVersion[]): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    with gone as (
      delete from events e
      using unnest(${events.map(({ id }) => id)}::uuid[], ${events.map(({ version }) => version)}::int[])
        as named (id, version)
      where e.id = named.id and e.version = named.version and e.organization_id = ${organizationId}
      returning e.id, e.external_subscription_id, e.code, e.timestamp
    ), versions as (
      delete from event_versions former using gone
      where former.organization_id = ${organizationId} and former.event_id = gone.id
      returning former.event_id, former.timestamp
    ), counted as (
      select gone.external_subscription_id, gone.code, ${monthOfId(db, db`gone.id`)} as month, count(*) as count,
        min(least(gone.timestamp, former.first)) as first, max(greatest(gone.timestamp, former.last)) as last
      from gone
      left join (
        select event_id, min(timestamp) as first, max(timestamp) as last from versions group by event_id
      ) former on former.event_id = gone.id
      group by 1, 2, 3
    ), kept as (
      insert into removed_events as removed (organization_id, external_subscription_id, code, month, events_count,
        first_timestamp, last_timestamp)
      select ${organizationId}::uuid, external_subscription_id, code, month, count, first, last from counted
      order by 1, 2, 3, 4
      on conflict (organization_id, external_subscription_id, code, month) do update set
        events_count = removed.events_count + excluded.events_count,
        first_timestamp = least(removed.first_timestamp, excluded.first_timestamp),
        last_timestamp = greatest(removed.last_timestamp, excluded.last_timestamp),
        restored_at = null
    )
    select count(*)::int as count from gone`;
  return row!.count;
}

/** The first day of the month in which an id was made. */
const monthOfId = (db: Db, id: Fragment): Fragment => db`
  date_trunc('month', to_timestamp(
    ('x' || left(replace(${id}::text, '-', ''), 12))::bit(48)::bigint / 1000.0), 'UTC')::date`;

/** Notes that the events of closed subscriptions were removed as far as they are closed. */
export const setRemoved = (
  { db, organizationId }: Scope,
  due: readonly { id: ExternalSubscriptionId; closed_before: Temporal.Instant }[],
) => db`
  update event_horizons horizon set removed_before = due.closed_before
  from unnest(${due.map(({ id }) => id)}::text[],
    ${due.map(({ closed_before }) => String(closed_before))}::text[]::timestamptz[])
    as due (id, closed_before)
  where horizon.organization_id = ${organizationId} and horizon.external_subscription_id = due.id`;

/** Organizations whose raw events are kept for a number of days; `usual` for those without a rule, null: for ever. */
export const listRetaining = (sql: Sql, usual: number | null) => sql<{ id: OrganizationId; days: number }[]>`
  select organization.id, coalesce(rule.days, ${usual}::int) as days
  from organizations organization
  left join retention_rules rule on rule.organization_id = organization.id and rule.class = 'events_raw'
  where coalesce(rule.days, ${usual}::int) is not null
  order by organization.id`;
