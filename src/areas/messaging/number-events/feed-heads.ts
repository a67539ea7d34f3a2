import type { Temporal } from 'temporal-polyfill';
import type { Sql, Tx } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { OrganizationId } from '../../../platform/ids.ts';

export interface FeedHead {
  organization_id: OrganizationId;
  /** Last number given. */
  last: number;
}

/**
 * Organizations with events that have no number yet, at most `limit`: one look into the index for each, however many of
 * its rows wait.
 */
export async function listWaiting(sql: Sql, limit: number): Promise<string[]> {
  const rows = await sql<{ organization_id: OrganizationId }[]>`
    with recursive waiting as (
      (select organization_id from webhook_events where sequence is null order by organization_id limit 1)
      union all
      select (
        select event.organization_id from webhook_events event
        where event.sequence is null and event.organization_id > waiting.organization_id
        order by event.organization_id limit 1)
      from waiting where waiting.organization_id is not null
    )
    select organization_id from waiting where organization_id is not null limit ${limit}`;
  return rows.map((row) => row.organization_id);
}

export const makeHeads = (tx: Tx, organizationIds: OrganizationId[]) => tx`
  insert into feed_heads (organization_id) select unnest(${organizationIds}::uuid[]) order by 1
  on conflict (organization_id) do nothing`;

/** Counters of these organizations; those that another worker numbers at this moment are left out. */
export const lockHeads = (tx: Tx, organizationIds: OrganizationId[]) => tx<FeedHead[]>`
  select organization_id, last from feed_heads where organization_id = any (${organizationIds})
  order by organization_id
  for update skip locked`;

/**
 * Numbers at most `limit` events of each organization and moves its counter: one statement, run after `lockHeads`, so
 * that it sees everything an earlier pass wrote.
 *
 * @returns for each organization that had any, how many events were numbered
 */
export const numberEvents = (tx: Tx, heads: FeedHead[], limit: number) => tx<{ count: number }[]>`
  with chosen as (
    select head.organization_id, event.id,
      head.last + row_number() over (partition by head.organization_id order by event.position) as sequence
    from unnest(${heads.map((head) => head.organization_id)}::uuid[], ${heads.map((head) => head.last)}::bigint[])
      as head (organization_id, last)
    cross join lateral (
      select id, position from webhook_events
      where organization_id = head.organization_id and sequence is null
      order by position
      limit ${limit}) event
  ), numbered as (
    update webhook_events event set sequence = chosen.sequence
    from chosen
    where event.organization_id = chosen.organization_id and event.id = chosen.id
    returning event.organization_id, event.sequence
  ), reached as (
    select organization_id, max(sequence) as last, count(*) as count from numbered group by organization_id
  )
  update feed_heads head set last = reached.last
  from reached
  where head.organization_id = reached.organization_id
  returning reached.count`;

/** Organizations whose feed begins with an event made before `cutoff`. */
export async function listAgedFeeds(sql: Sql, cutoff: Temporal.Instant): Promise<string[]> {
  const rows = await sql<{ organization_id: OrganizationId }[]>`
    select head.organization_id from feed_heads head
    join webhook_events event on event.organization_id = head.organization_id and event.sequence = head.first
    where event.created_at < ${cutoff}
    order by head.organization_id`;
  return rows.map((row) => row.organization_id);
}

/** The feed begins with its first event that was not made before `cutoff`. Its counter is locked. */
export const moveFirst = ({ db: tx, organizationId }: Scope<Tx>, cutoff: Temporal.Instant) => tx`
  update feed_heads head
  set first = coalesce((
    select event.sequence from webhook_events event
    where event.organization_id = ${organizationId} and event.sequence >= head.first and event.created_at >= ${cutoff}
    order by event.sequence
    limit 1), head.last + 1)
  where head.organization_id = ${organizationId}`;

/** Organizations whose feed has lost its first events. */
export async function listShortened(sql: Sql): Promise<string[]> {
  const rows = await sql<{ organization_id: OrganizationId }[]>`
    select organization_id from feed_heads where first > 1 order by organization_id`;
  return rows.map((row) => row.organization_id);
}

/** Removes at most `limit` events that have left the feed and whose deliveries are gone. */
export const deleteLeftEvents = ({ db: sql, organizationId }: Scope<Sql>, limit: number) => sql`
  delete from webhook_events
  where organization_id = ${organizationId} and id in (
    select event.id from webhook_events event
    join feed_heads head on head.organization_id = event.organization_id
    where event.organization_id = ${organizationId} and event.sequence < head.first
      and not exists (select from webhook_deliveries d where d.event_id = event.id)
    order by event.sequence
    limit ${limit})`;
