import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { EventId } from '../../../platform/ids.ts';
import type { UnpricedCall } from '../event-rating/rate-properties.ts';
import { isWaitingByKey } from './waiting-by-key.ts';

/**
 * Closes what waits for a price after its events were corrected: healed where they have an amount now, ignored where
 * they were retracted. Those that were counted by their models are counted no longer.
 *
 * Rule: price-book.md#healing.
 */
export const closeUnpriced = ({ db, organizationId }: Scope, eventIds: readonly EventId[]) => db`
  with closed as (
    update ai_unpriced waiting
    set status = case when e.deleted_at is null then 'healed' else 'ignored' end
    from events e
    where waiting.organization_id = ${organizationId} and waiting.event_id = any (${eventIds}::uuid[])
      and ${isWaitingByKey(db, db`waiting`)} and e.id = waiting.event_id
      and e.organization_id = waiting.organization_id
      and (e.deleted_at is not null or e.precise_total_amount_cents is not null)
    returning waiting.event_id, waiting.provider, waiting.model, waiting.tier, waiting.tokens
  )
  update ai_unpriced_models known
  set events = greatest(known.events - gone.events, 0), tokens = greatest(known.tokens - gone.tokens, 0)
  from (
    select provider, model, tier, count(*) as events, sum(tokens) as tokens from closed
    where not exists (
      select from event_batches batch
      where batch.organization_ids @> array[${organizationId}::uuid] and closed.event_id = any (batch.event_ids))
    group by provider, model, tier
  ) gone
  where known.organization_id = ${organizationId} and known.provider = gone.provider and known.model = gone.model
    and known.tier = gone.tier`;

/**
 * Lists calls that a correction left without an amount, unless they wait already. Rule: price-book.md#unknown-models.
 */
export const openUnpriced = ({ db, organizationId }: Scope, calls: readonly ({ id: EventId } & UnpricedCall)[]) => db`
  with call as (
    select * from jsonb_to_recordset(${json([...calls])}::jsonb) as call (id uuid, provider text, model text, tier text,
      reason text, missing_kinds text[], tokens numeric, book text)
  ), opened as (
    insert into ai_unpriced as known (organization_id, event_id, external_subscription_id, provider, model, tier,
      reason, missing_kinds, tokens, event_timestamp, book)
    select e.organization_id, e.id, e.external_subscription_id, call.provider, call.model, call.tier, call.reason,
      call.missing_kinds, call.tokens, e.timestamp, call.book
    from call
    join events e on e.id = call.id and e.organization_id = ${organizationId}
    on conflict (organization_id, event_id) do update set status = 'open', provider = excluded.provider,
      model = excluded.model, tier = excluded.tier, reason = excluded.reason, missing_kinds = excluded.missing_kinds,
      tokens = excluded.tokens, event_timestamp = excluded.event_timestamp, book = excluded.book
    where known.status <> 'open'
    returning known.event_id, known.provider, known.model, known.tier, known.missing_kinds, known.tokens
  ), stored as (
    insert into ai_unpriced_models as known (organization_id, provider, model, tier, missing_kinds, events, tokens,
      first_seen_at, last_seen_at)
    select ${organizationId}::uuid, opened.provider, opened.model, opened.tier, opened.missing_kinds, 1, opened.tokens,
      e.created_at, e.created_at
    from opened join events e on e.id = opened.event_id
    where not exists (
      select from event_batches batch
      where batch.organization_ids @> array[${organizationId}::uuid] and opened.event_id = any (batch.event_ids))
    on conflict (organization_id, provider, model, tier) do update set events = known.events + 1,
      tokens = known.tokens + excluded.tokens, looked_book = null,
      last_seen_at = greatest(known.last_seen_at, excluded.last_seen_at)
    returning true
  )
  select count(*) from stored`;
