import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { HealSelection } from '../../catalog/usage-shapes/request-heal.ts';
import { plainArray, textArray } from '../events/storage/array-literal.ts';
import type { EventToMatch, UnmatchedReason } from '../match-events/match-event.ts';
import { eventToMatch, joinLiveMetric } from '../match-events/match-sql.ts';

/** An open unmatched event, with the reason that it was put there for. */
export interface OpenEvent extends EventToMatch {
  former: UnmatchedReason;
}

/** Open events of these codes and these external ids; `either`: of one or the other. Without any, all. */
export interface OpenSelection {
  codes?: readonly string[] | undefined;
  external_subscription_ids?: readonly string[] | undefined;
  either?: boolean | undefined;
}

function selected(db: Db, { codes, external_subscription_ids: ids, either }: OpenSelection) {
  const ofCodes = codes && db`u.code = any (${codes as string[]})`;
  const ofIds = ids && db`u.external_subscription_id = any (${ids as string[]})`;
  if (ofCodes && ofIds) return either ? db`and (${ofCodes} or ${ofIds})` : db`and ${ofCodes} and ${ofIds}`;
  return ofCodes || ofIds ? db`and ${ofCodes ?? ofIds!}` : db``;
}

/** Takes the requests to heal of an organization that wait and that nobody watches. To be called under its matching lock. */
export async function takeRequests(db: Db, organizationId: string): Promise<HealSelection[]> {
  const rows = await db<{ payload: HealSelection }[]>`
    delete from after_steps where id in (
      select id from after_steps
      where organization_id = ${organizationId} and job = 'heal-events' and failed_at is null
        and not payload ?| array['run_id', 'page']
      for update skip locked)
    returning payload`;
  return rows.map(({ payload }) => payload);
}

/** A page of open unmatched events in the order of their ids. */
export const listOpenEvents = (
  db: Db,
  organizationId: string,
  selection: OpenSelection,
  after: string | null,
  limit: number,
) => db<OpenEvent[]>`
  select ${eventToMatch(db)}, u.reason as former
  from unmatched_events u
  join events e on e.id = u.event_id and e.deleted_at is null
  ${joinLiveMetric(db)}
  where u.organization_id = ${organizationId} and u.status = 'open' ${selected(db, selection)}
    ${after === null ? db`` : db`and u.event_id > ${after}`}
  order by u.event_id
  limit ${limit}`;

export async function countOpenEvents(db: Db, organizationId: string, selection: OpenSelection): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*) as count from unmatched_events u
    where u.organization_id = ${organizationId} and u.status = 'open' ${selected(db, selection)}`;
  return row!.count;
}

/**
 * Codes with more open events than rows, since rows stop beyond a limit. Their totals are set back to the rows, for the
 * scan that finds the others again.
 */
export async function takeOverflown(
  db: Db,
  organizationId: string,
  codes: readonly string[] | undefined,
): Promise<string[]> {
  const rows = await db<{ code: string }[]>`
    update unmatched_totals total set count = kept.count
    from (
      select t.reason, t.code, (
        select count(*) from unmatched_events u
        where u.organization_id = t.organization_id and u.status = 'open' and u.code = t.code and u.reason = t.reason) as count
      from unmatched_totals t
      where t.organization_id = ${organizationId} and t.count > 0
        ${codes === undefined ? db`` : db`and t.code = any (${codes as string[]})`}
    ) kept
    where total.organization_id = ${organizationId} and total.reason = kept.reason and total.code = kept.code
      and total.count > kept.count
    returning total.code`;
  return [...new Set(rows.map(({ code }) => code))];
}

/** A page of events of codes that have no row among the unmatched ones, in the order of their ids, before `until`. */
export const listRowless = (
  db: Db,
  organizationId: string,
  { codes, after, until }: { codes: readonly string[]; after: string | null; until: string },
  limit: number,
) => db<EventToMatch[]>`
  select ${eventToMatch(db)}
  from events e
  ${joinLiveMetric(db)}
  where e.organization_id = ${organizationId} and e.code = any (${codes as string[]}) and e.deleted_at is null
    and e.id < ${until} ${after === null ? db`` : db`and e.id > ${after}`}
    and not exists (select from unmatched_events u where u.organization_id = e.organization_id and u.event_id = e.id)
  order by e.id
  limit ${limit}`;

/** Codes of metrics, deleted ones too. */
export async function listCodes(db: Db, organizationId: string, metricIds: readonly string[]): Promise<string[]> {
  const rows = await db<{ code: string }[]>`
    select distinct code from billable_metrics
    where organization_id = ${organizationId} and id = any (${metricIds as string[]}::uuid[])`;
  return rows.map(({ code }) => code);
}

/**
 * Writes what became of open events: a new reason, or none, which heals them. The totals of open events follow. To be
 * called under the organization's matching lock.
 */
export const writeHealed = (
  db: Db,
  organizationId: string,
  changes: readonly { id: string; reason: UnmatchedReason | null }[],
  now: string,
) => db`
  with change as materialized (
    select u.event_id, u.code, u.reason as former, change.reason, u.first_seen_at
    from unnest(${plainArray(changes.map(({ id }) => id))}::uuid[], ${textArray(changes.map(({ reason }) => reason))}::text[])
      as change (id, reason)
    join unmatched_events u on u.organization_id = ${organizationId} and u.event_id = change.id and u.status = 'open'
  ), written as (
    update unmatched_events u
    set reason = coalesce(change.reason, u.reason), status = case when change.reason is null then 'healed' else 'open' end,
      healed_at = case when change.reason is null then ${now}::timestamptz end
    from change where u.organization_id = ${organizationId} and u.event_id = change.event_id
  ), left_over as (
    update unmatched_totals total set count = total.count - gone.count
    from (select former, code, count(*) as count from change group by former, code) gone
    where total.organization_id = ${organizationId} and total.reason = gone.former and total.code = gone.code
  )
  insert into unmatched_totals as total (organization_id, reason, code, count, first_seen_at, last_seen_at)
  select ${organizationId}, reason, code, count(*), min(first_seen_at), max(first_seen_at)
  from change where reason is not null
  group by reason, code
  on conflict (organization_id, reason, code) do update set
    count = total.count + excluded.count,
    first_seen_at = least(total.first_seen_at, excluded.first_seen_at),
    last_seen_at = greatest(total.last_seen_at, excluded.last_seen_at)`;

/** Marks active subscriptions whose usage grew, on the UTC day of `now`. */
export const markUsed = (db: Db, organizationId: string, subscriptionIds: readonly string[], now: string) => db`
  update subscriptions
  set usage_may_have_changed = true, last_received_event_on = greatest(last_received_event_on, ${utcDay(db, now)})
  where organization_id = ${organizationId} and id = any (${subscriptionIds as string[]}::uuid[]) and status = 'active'
    and (not usage_may_have_changed or last_received_event_on is null or last_received_event_on < ${utcDay(db, now)})`;

const utcDay = (db: Db, now: string): Fragment => db`(${now}::timestamptz at time zone 'UTC')::date`;

/** Notes how far the run of a healing has come; the last page ends it. */
export const moveRun = (
  db: Db,
  organizationId: string,
  runId: string,
  progress: { done: number; total: number; result: object; isOver: boolean },
  now: string,
) => db`
  update runs set status = ${progress.isOver ? 'succeeded' : 'running'}, done = ${progress.done}, total = ${progress.total},
    started_at = coalesce(started_at, ${now}::timestamptz),
    finished_at = ${progress.isOver ? db`${now}::timestamptz` : null},
    result = ${progress.isOver ? (progress.result as never) : null}
  where organization_id = ${organizationId} and id = ${runId}`;
