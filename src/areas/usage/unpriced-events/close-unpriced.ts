import type { Scope } from '../../../platform/db/scope.ts';
import type { EventId } from '../../../platform/ids.ts';

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
      and waiting.status = 'open' and e.id = waiting.event_id and e.organization_id = waiting.organization_id
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
