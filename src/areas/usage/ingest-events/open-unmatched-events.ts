import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { EventId, ExternalSubscriptionId, MetricId, SubscriptionId } from '../../../platform/ids.ts';
import { steps } from '../../../steps.ts';
import type { HealSelection } from '../../catalog/usage-shapes/request-heal.ts';
import { isInArrival, isLive } from '../events/live-events.ts';
import { plainArray, textArray } from '../events/storage/array-literal.ts';
import { eventToMatch, joinLiveMetric } from '../match-events/event-to-match.ts';
import type { EventToMatch, UnmatchedReason } from '../match-events/match-event.ts';
import { FURTHER_CODES, totalCode } from '../unmatched-events/totals.ts';

/** An open unmatched event with its reason. */
export interface OpenEvent extends EventToMatch {
  former: UnmatchedReason;
}

/** Open events of these codes and external ids; `either`: of one or the other. Without any, all. */
export interface OpenSelection {
  codes?: readonly string[] | undefined;
  external_subscription_ids?: readonly ExternalSubscriptionId[] | undefined;
  either?: boolean | undefined;
}

/** Takes the waiting healing requests of an organization that have no run; unreadable ones stay. */
export async function takeRequests({ db, organizationId }: Scope): Promise<HealSelection[]> {
  const rows = await db<{ id: string; payload: unknown }[]>`
    select id, payload from after_steps
    where organization_id = ${organizationId} and job = 'heal-events' and failed_at is null
      and not payload ?| array['run_id', 'page']
    for update skip locked`;
  const read = rows.flatMap(({ id, payload }) => {
    const { data } = steps['heal-events'].payload.safeParse(payload);
    return data === undefined ? [] : [{ id, data }];
  });
  if (read.length === 0) return [];
  await db`
    delete from after_steps
    where organization_id = ${organizationId} and id = any (${read.map(({ id }) => id)}::uuid[])`;
  return read.map(({ data }) => data);
}

/** The ids of a page of open unmatched events `u` whose event is live, of those that `own` selects. */
const pageOf = (
  { db, organizationId }: Scope,
  own: Fragment,
  { after, limit }: { after: string | null; limit: number },
) => db`
  select u.event_id
  from unmatched_events u
  join events live on live.id = u.event_id and live.deleted_at is null
  where u.organization_id = ${organizationId} and u.status = 'open' ${own}
    ${after === null ? db`` : db`and u.event_id > ${after}`}
  order by u.event_id
  limit ${limit}`;

/**
 * The same for a selection: each code and each external id is read in the order of its index, whatever else is open.
 */
function selectedPage(
  scope: Scope,
  { codes, external_subscription_ids: ids, either }: OpenSelection,
  after: string | null,
  limit: number,
) {
  const { db } = scope;
  const page = (own: Fragment) => pageOf(scope, own, { after, limit });
  const ofCodes =
    codes &&
    db`
    select own.event_id from unnest(${codes}::text[]) as code (code)
    cross join lateral (${page(db`and u.code = code.code`)}) own`;
  const ofIds =
    ids &&
    db`
    select own.event_id from unnest(${ids}::text[]) as external (id)
    cross join lateral (${page(db`and u.external_subscription_id = external.id`)}) own`;
  if (ofCodes && ofIds)
    return either
      ? db`${ofCodes} union ${ofIds}`
      : page(db`and u.code = any (${codes}) and u.external_subscription_id = any (${ids})`);
  return ofCodes ?? ofIds ?? page(db``);
}

/** A page of open unmatched events in the order of their ids. */
export const listOpenEvents = (
  scope: Scope,
  selection: OpenSelection,
  { after, limit }: { after: string | null; limit: number },
) => scope.db<OpenEvent[]>`
  with page as materialized (
    select event_id from (${selectedPage(scope, selection, after, limit)}) as selected
    order by event_id limit ${limit}
  )
  select ${eventToMatch(scope.db)}, u.reason as former
  from page
  join unmatched_events u on u.organization_id = ${scope.organizationId} and u.event_id = page.event_id
  join events e on e.id = page.event_id
  ${joinLiveMetric(scope.db)}
  order by page.event_id`;

/** Number of open events of a run's selection: of one external id by its rows, else by the totals. */
export async function countOpenEvents(
  { db, organizationId }: Scope,
  { codes, external_subscription_ids: ids }: OpenSelection,
): Promise<number> {
  const ofCodes = codes === undefined ? db`` : db`and code = any (${codes})`;
  const [row] = await db<{ count: number }[]>`
    ${
      ids === undefined
        ? db`select coalesce(sum(kept), 0)::bigint as count from unmatched_totals where true`
        : db`
          select count(*) as count from unmatched_events
          where status = 'open' and external_subscription_id = any (${ids})`
    }
    and organization_id = ${organizationId} ${ofCodes}`;
  return row!.count;
}

/**
 * Codes with more open events than rows, because rows stop at a limit. Their totals are reset to the rows, since a scan
 * finds the others again; the shared total keeps its count, because its codes are unknown. Totals without events are
 * dropped to make room.
 */
export async function takeOverflown(
  { db, organizationId }: Scope,
  codes: readonly string[] | undefined,
): Promise<string[]> {
  const rows = await db<{ code: string }[]>`
    with emptied as (
      delete from unmatched_totals where organization_id = ${organizationId} and count <= 0
    )
    update unmatched_totals set count = kept
    where organization_id = ${organizationId} and kept < count and count > 0 and code <> ${FURTHER_CODES}
      ${codes === undefined ? db`` : db`and code = any (${codes})`}
    returning code`;
  return [...new Set(rows.map(({ code }) => code))];
}

/**
 * Ids of a page of events of codes that have no row among the unmatched ones, in their order, before `until`. It may
 * read many rows, so it must not be called under the matching lock.
 */
export const listRowless = (
  { db, organizationId }: Scope,
  { codes, after, until }: { codes: readonly string[]; after: string | null; until: string },
  limit: number,
) => db<{ id: EventId }[]>`
  select e.id from events e
  where e.organization_id = ${organizationId} and ${isInArrival(db)} and e.code = any (${codes})
    and ${isLive(db, db`e`)} and e.id < ${until} ${after === null ? db`` : db`and e.id > ${after}`}
    and not exists (select from unmatched_events u where u.organization_id = e.organization_id and u.event_id = e.id)
  order by e.id
  limit ${limit}`;

/** Those of the events that are still live and without a row, and whose batch is done. Under the matching lock. */
export const listStillRowless = ({ db, organizationId }: Scope, ids: readonly EventId[]) => db<EventToMatch[]>`
  select ${eventToMatch(db)}
  from events e
  ${joinLiveMetric(db)}
  where e.organization_id = ${organizationId} and e.id = any (${plainArray(ids)}::uuid[]) and ${isLive(db, db`e`)}
    and not exists (select from unmatched_events u where u.organization_id = e.organization_id and u.event_id = e.id)
    and not exists (
      select from event_batches batch
      where batch.organization_ids @> array[${organizationId}::uuid] and e.id = any (batch.event_ids))
  order by e.id`;

/** Codes of metrics, deleted ones too. */
export async function listCodes({ db, organizationId }: Scope, metricIds: readonly MetricId[]): Promise<string[]> {
  const rows = await db<{ code: string }[]>`
    select distinct code from billable_metrics
    where organization_id = ${organizationId} and id = any (${metricIds}::uuid[])`;
  return rows.map(({ code }) => code);
}

/**
 * Stores new reasons of open events, or heals them, and updates the totals. To be called under the organization's
 * matching lock.
 */
export const writeHealed = (
  { db, organizationId }: Scope,
  changes: readonly { id: string; reason: UnmatchedReason | null }[],
  now: string,
) => db`
  with change as materialized (
    select u.event_id, ${totalCode(db)} as code, u.reason as former, change.reason, u.first_seen_at
    from unnest(${plainArray(changes.map(({ id }) => id))}::uuid[],
      ${textArray(changes.map(({ reason }) => reason))}::text[])
      as change (id, reason)
    join unmatched_events u on u.organization_id = ${organizationId} and u.event_id = change.id and u.status = 'open'
  ), written as (
    update unmatched_events u
    set reason = coalesce(change.reason, u.reason), status = case when change.reason is null
      then 'healed' else 'open' end,
      healed_at = case when change.reason is null then ${now}::timestamptz end
    from change where u.organization_id = ${organizationId} and u.event_id = change.event_id
  ), delta as (
    select reason, code, sum(step) as count, min(first_seen_at) as first_seen_at, max(first_seen_at) as last_seen_at
    from (
      select former as reason, code, -1 as step, first_seen_at from change
      union all
      select reason, code, 1, first_seen_at from change where reason is not null
    ) as move
    group by reason, code
  ), stored as (
    insert into unmatched_totals as total (organization_id, reason, code, count, kept, first_seen_at, last_seen_at)
    select ${organizationId}, reason, code, count, count, first_seen_at, last_seen_at from delta
    order by reason, code
    on conflict (organization_id, reason, code) do update set
      count = total.count + excluded.count, kept = total.kept + excluded.kept,
      first_seen_at = least(total.first_seen_at, excluded.first_seen_at),
      last_seen_at = greatest(total.last_seen_at, excluded.last_seen_at)
    returning true
  )
  select count(*) from stored`;

/** Marks active subscriptions whose usage grew, on the UTC day of `now`. */
export const markUsed = ({ db, organizationId }: Scope, subscriptionIds: readonly SubscriptionId[], now: string) => db`
  update subscriptions
  set usage_may_have_changed = true, last_received_event_on = greatest(last_received_event_on, ${utcDay(db, now)})
  where organization_id = ${organizationId} and id = any (${subscriptionIds}::uuid[]) and status = 'active'
    and (not usage_may_have_changed or last_received_event_on is null or last_received_event_on < ${utcDay(db, now)})`;

const utcDay = (db: Db, now: string): Fragment => db`(${now}::timestamptz at time zone 'UTC')::date`;

/** Stores the progress of a healing run; the last page ends it. */
export const moveRun = (
  { db, organizationId }: Scope,
  runId: string,
  { progress, now }: { progress: { done: number; total: number; result: object; isOver: boolean }; now: string },
) => db`
  update runs set status = ${progress.isOver ? 'succeeded' : 'running'}, done = ${progress.done},
    total = ${progress.total},
    started_at = coalesce(started_at, ${now}::timestamptz),
    finished_at = ${progress.isOver ? db`${now}::timestamptz` : null},
    result = ${progress.isOver ? json(progress.result) : null}
  where organization_id = ${organizationId} and id = ${runId}`;
