import { TARGET_WALLET_KEY } from '../../../engine/metrics/group-values.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { isoText } from '../../../platform/db/iso-text.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type {
  EventBatchId,
  ExternalSubscriptionId,
  MetricId,
  OrganizationId,
  PlanId,
  SubscriptionId,
} from '../../../platform/ids.ts';
import { addedVolumes, type Volume } from '../event-volumes/count-events.ts';
import { plainArray, textArray } from '../events/storage/array-literal.ts';
import { eventToMatch, joinLiveMetric } from '../match-events/event-to-match.ts';
import type { CandidateSubscription, EventToMatch, UnmatchedReason } from '../match-events/match-event.ts';
import { FURTHER_CODES, MOST_ROWS, placesOf } from '../unmatched-events/totals.ts';
import type { UnpricedEvent } from '../unpriced-events/count-unpriced.ts';
import { isWaitingByKey } from '../unpriced-events/waiting-by-key.ts';
import type { EventForWallet } from './missing-wallets.ts';

/** A live event of a batch; with its call if that has no amount yet. */
export interface EventInBatch extends EventForWallet {
  /** It is a call of a language model that was rated. */
  is_rated: boolean;
  unpriced: UnpricedEvent | null;
}

/** Takes batches, one worker at a time, with their live events and metrics. Missing batches are finished. */
export const takeBatchEvents = (db: Db, batchIds: readonly EventBatchId[]) => db<EventInBatch[]>`
  select ${eventToMatch(db)}, e.properties ->> ${TARGET_WALLET_KEY} as target_wallet_code, e.properties ? 'ai_status' as is_rated,
    unpriced.call as unpriced
  from (
    select event_ids from event_batches where id = any (${plainArray(batchIds)}::uuid[]) order by id for update
  ) taken
  cross join unnest(taken.event_ids) as member (id)
  join events e on e.id = member.id and e.deleted_at is null
  ${joinLiveMetric(db)}
  left join lateral (
    select jsonb_build_object('event_id', event_id, 'organization_id', organization_id, 'provider', provider, 'model',
      model, 'tier', tier, 'missing_kinds', missing_kinds, 'tokens', tokens::text, 'transaction_id', e.transaction_id,
      'created_at', ${isoText(db, db`e.created_at`)}) as call
    from ai_unpriced waiting
    where organization_id = e.organization_id and event_id = e.id and ${isWaitingByKey(db, db`waiting`)}
    limit 1
  ) unpriced on true`;

/** Subscriptions of external ids, each with its organization. */
export const listCandidates = (
  db: Db,
  keys: readonly { organization_id: OrganizationId; external_subscription_id: ExternalSubscriptionId }[],
) => db<CandidateSubscription[]>`
  select s.id, s.organization_id, s.external_id, s.plan_id, s.status,
    ${isoText(db, db`s.started_at`)} as started_at,
    ${isoText(db, db`s.terminated_at`)} as terminated_at,
    s.previous_subscription_id is not null as replaces_another
  from unnest(${plainArray(keys.map((key) => key.organization_id))}::uuid[],
    ${textArray(keys.map((key) => key.external_subscription_id))}::text[]) as key (organization_id, external_id)
  join subscriptions s on s.organization_id = key.organization_id and s.external_id = key.external_id`;

/**
 * Pairs of plan and metric that a live charge joins; whether one is paid in advance, and one accepts target wallets.
 */
export const listChargedPairs = (db: Db, organizationIds: readonly OrganizationId[], planIds: readonly PlanId[]) => db<
  { plan_id: PlanId; billable_metric_id: MetricId; pay_in_advance: boolean; accepts_target_wallet: boolean }[]
>`
  select plan_id, billable_metric_id, bool_or(pay_in_advance) as pay_in_advance,
    bool_or(accepts_target_wallet) as accepts_target_wallet
  from charges
  where organization_id = any (${plainArray(organizationIds)}::uuid[])
    and plan_id = any (${plainArray(planIds)}::uuid[])
    and deleted_at is null
  group by plan_id, billable_metric_id`;

export interface ActivityMark {
  organization_id: OrganizationId;
  subscription_id: SubscriptionId;
  /** Newest day on which an event was received, UTC. */
  day: string;
}

/** Unmatched events, sorted by organization, reason and code. */
export interface UnmatchedEvent {
  event: EventToMatch;
  reason: UnmatchedReason;
}

/**
 * Ends batches: marks active subscriptions, keeps unmatched events and their totals, counts events by minute, deletes
 * the rows of the batches.
 * Marked subscriptions are not written again, so that busy ones are not updated for every batch.
 */
export const finishBatches = (
  db: Db,
  batchIds: readonly EventBatchId[],
  {
    marks,
    unmatched,
    volumes,
  }: { marks: readonly ActivityMark[]; unmatched: readonly UnmatchedEvent[]; volumes: readonly Volume[] },
) => db`
  with mark as materialized (
    select * from unnest(${plainArray(marks.map((mark) => mark.organization_id))}::uuid[],
      ${plainArray(marks.map((mark) => mark.subscription_id))}::uuid[],
      ${plainArray(marks.map((mark) => mark.day))}::date[]) as mark (organization_id, id, day)
  ), marked as (
    update subscriptions s
    set usage_may_have_changed = true, last_received_event_on = greatest(s.last_received_event_on, mark.day)
    from mark
    where s.organization_id = mark.organization_id and s.id = mark.id and s.id = any (array(
      select s.id from subscriptions s join mark on mark.organization_id = s.organization_id and mark.id = s.id
      where s.status = 'active'
        and (not s.usage_may_have_changed or s.last_received_event_on is null or s.last_received_event_on < mark.day)
      order by s.id
      for no key update of s))
  ), found as materialized (
    select * from unnest(${plainArray(unmatched.map(({ event }) => event.organization_id))}::uuid[],
      ${plainArray(unmatched.map(({ event }) => event.id))}::uuid[],
      ${plainArray(unmatched.map(({ reason }) => reason))}::text[],
      ${textArray(unmatched.map(({ event }) => event.code))}::text[],
      ${textArray(unmatched.map(({ event }) => event.external_subscription_id))}::text[],
      ${plainArray(unmatched.map(({ event }) => event.timestamp))}::timestamptz[],
      ${plainArray(unmatched.map(({ event }) => event.created_at))}::timestamptz[])
      as found (organization_id, event_id, reason, code, external_subscription_id, event_timestamp, seen_at)
  ), pair as materialized (
    select organization_id, reason, code, count(*) as count, min(seen_at) as first_seen_at, max(seen_at) as last_seen_at
    from found group by organization_id, reason, code
  ), place as materialized (
    select placed.*, case when shares_total then ${FURTHER_CODES} else code end as total_code
      from (${placesOf(db)}) placed
  ), total as (
    insert into unmatched_totals as total (organization_id, reason, code, count, kept, first_seen_at, last_seen_at)
    select organization_id, reason, total_code, sum(count), sum(count), min(first_seen_at), max(last_seen_at) from place
    group by organization_id, reason, total_code
    order by organization_id, reason, total_code
    on conflict (organization_id, reason, code) do update set
      count = total.count + excluded.count,
      kept = total.kept + case when total.count + excluded.count <= ${MOST_ROWS} then excluded.kept else 0 end,
      first_seen_at = least(total.first_seen_at, excluded.first_seen_at),
      last_seen_at = greatest(total.last_seen_at, excluded.last_seen_at)
    returning organization_id, reason, code, count
  ), unmatched as (
    insert into unmatched_events (organization_id, event_id, reason, code, external_subscription_id, event_timestamp,
      first_seen_at,
      shares_total)
    select found.organization_id, event_id, found.reason, found.code, external_subscription_id, event_timestamp,
      seen_at,
      place.shares_total
    from found
    join place using (organization_id, reason, code)
    join total on total.organization_id = found.organization_id and total.reason = found.reason
      and total.code = place.total_code
    where total.count <= ${MOST_ROWS}
    on conflict do nothing
  ), ${addedVolumes(db, volumes, batchIds)}
  delete from event_batches where id = any (${plainArray(batchIds)}::uuid[])`;

/** Batches whose job was lost, taken for another try; `olderThan` and `now` are real time. */
export const takeLostBatches = (db: Db, olderThan: string, { now, limit }: { now: string; limit: number }) => db<
  { id: EventBatchId; organization_ids: OrganizationId[] }[]
>`
  update event_batches set enqueued_at = ${now}
  where id in (
    select id from event_batches where enqueued_at <= ${olderThan} order by enqueued_at
      limit ${limit} for update skip locked)
  returning id, organization_ids`;

/** Open batches that hold events of an organization. */
export const listOpenBatches = ({ db, organizationId }: Scope, limit: number) => db<
  { id: EventBatchId; is_shared: boolean }[]
>`
  select id, cardinality(organization_ids) > 1 as is_shared from event_batches
    where organization_ids @> array[${organizationId}::uuid] order by id limit ${limit}`;

/** A batch with one organization's events, split from one of several organizations. */
export interface BatchApart {
  id: EventBatchId;
  organization_id: OrganizationId;
}

/**
 * Splits the events of organizations from batches into one batch for each.
 *
 * organizationIds  null: all of them
 */
export const splitBatches = (
  db: Db,
  batchIds: readonly EventBatchId[],
  organizationIds: readonly OrganizationId[] | null,
) => {
  const owners = organizationIds && plainArray(organizationIds);
  return db<BatchApart[]>`
  with taken as (
    delete from event_batches
    where id = any (${plainArray(batchIds)}::uuid[])
      and (${owners}::uuid[] is null or organization_ids && ${owners}::uuid[])
    returning id, event_ids, created_at, enqueued_at
  ), piece as materialized (
    select case when e.owner is null then taken.id else e.new_id end as id, e.owner, e.organization_ids,
      e.event_ids, taken.created_at, taken.enqueued_at
    from taken
    cross join lateral (
      select case when ${owners}::uuid[] is null or organization_id = any (${owners}::uuid[])
        then organization_id end as owner,
        array_agg(distinct organization_id) as organization_ids, array_agg(id order by id) as event_ids,
        gen_random_uuid() as new_id
      from events where id = any (taken.event_ids)
      group by owner
    ) e
  ), written as (
    insert into event_batches (id, organization_ids, event_ids, created_at, enqueued_at)
    select id, organization_ids, event_ids, created_at, enqueued_at from piece
  )
  select id, owner as organization_id from piece where owner is not null`;
};
