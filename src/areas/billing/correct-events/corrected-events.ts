import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { CorrectionId, EventId } from '../../../platform/ids.ts';
import { isLive } from '../../usage/events/live-events.ts';
import { eventToMatch, joinLiveMetric } from '../../usage/match-events/event-to-match.ts';
import type { EventToMatch, UnmatchedReason } from '../../usage/match-events/match-event.ts';
import { placesOf, totalCode } from '../../usage/unmatched-events/totals.ts';

/** A live event, with the reason for which it is among the open unmatched ones; null: it is not. */
export interface CorrectedEvent extends EventToMatch {
  former: UnmatchedReason | null;
}

/** The events that are live and whose batch is done. */
export const listCorrected = ({ db, organizationId }: Scope, eventIds: readonly EventId[]) => db<CorrectedEvent[]>`
  select ${eventToMatch(db)}, u.reason as former
  from events e
  ${joinLiveMetric(db)}
  left join unmatched_events u on u.organization_id = e.organization_id and u.event_id = e.id and u.status = 'open'
  where e.organization_id = ${organizationId} and e.id = any (${eventIds}::uuid[]) and ${isLive(db, db`e`)}
    and not exists (
      select from event_batches batch
      where batch.organization_ids @> array[${organizationId}::uuid] and e.id = any (batch.event_ids))
  order by e.id`;

/** Closes open unmatched events that were retracted, and corrects the totals. Under the matching lock. */
export const ignoreRetracted = (
  { db, organizationId }: Scope,
  eventIds: readonly EventId[],
  correctionId: CorrectionId,
) => db`
  with ignored as (
    update unmatched_events u set status = 'ignored', correction_id = ${correctionId}
    from events e
    where u.organization_id = ${organizationId} and u.event_id = any (${eventIds}::uuid[])
      and u.status = 'open' and e.id = u.event_id and e.deleted_at is not null
    returning u.reason, ${totalCode(db)} as code
  )
  update unmatched_totals total set count = total.count - gone.count, kept = total.kept - gone.count
  from (select reason, code, count(*) as count from ignored group by reason, code) gone
  where total.organization_id = ${organizationId} and total.reason = gone.reason and total.code = gone.code`;

/** Lists events that no charge takes any more and reopens healed ones. Under the matching lock. */
export const insertUnmatched = (
  { db, organizationId }: Scope,
  found: readonly { event: EventToMatch; reason: UnmatchedReason }[],
  { correctionId, now }: { correctionId: CorrectionId; now: string },
) => {
  const rows = found.map(({ event, reason }) => ({
    event_id: event.id,
    reason,
    code: event.code,
    external_subscription_id: event.external_subscription_id,
    event_timestamp: event.timestamp,
  }));
  return db`
  with found as materialized (
    select * from jsonb_to_recordset(${json(rows)}::jsonb) as row (event_id uuid, reason text, code text,
      external_subscription_id text, event_timestamp timestamptz)
  ), pair as materialized (
    select distinct ${organizationId}::uuid as organization_id, reason, code from found
  ), place as materialized (${placesOf(db)}), written as (
    insert into unmatched_events as u (organization_id, event_id, reason, code, external_subscription_id,
      event_timestamp,
      first_seen_at, correction_id, shares_total)
    select ${organizationId}::uuid, event_id, reason, code, external_subscription_id, event_timestamp,
      ${now}::text::timestamptz, ${correctionId}::uuid, shares_total
    from found join place using (reason, code)
    on conflict (organization_id, event_id) do update set
      reason = excluded.reason, status = 'open', healed_at = null, event_timestamp = excluded.event_timestamp,
      correction_id = excluded.correction_id
    where u.status = 'healed'
    returning u.reason, ${totalCode(db)} as code, u.first_seen_at
  ), stored as (
    insert into unmatched_totals as total (organization_id, reason, code, count, kept, first_seen_at, last_seen_at)
    select ${organizationId}::uuid, reason, code, count(*), count(*), min(first_seen_at), max(first_seen_at)
    from written
    group by reason, code
    on conflict (organization_id, reason, code) do update set
      count = total.count + excluded.count, kept = total.kept + excluded.kept,
      last_seen_at = greatest(total.last_seen_at, excluded.last_seen_at)
    returning true
  )
  select count(*) from stored`;
};
