import type { Temporal } from 'temporal-polyfill';
import type { ModelName } from '../../../engine/ai/rating/model-name.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { isoText } from '../../../platform/db/iso-text.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { CustomerId, EventId, ExternalSubscriptionId, OrganizationId } from '../../../platform/ids.ts';
import { presentBook } from '../../catalog/model-books/book-version.ts';
import type { EventToCorrect } from '../../usage/event-corrections/lock-events.ts';
import { isClosed } from '../../usage/event-retention/closed-time.ts';
import { isLive } from '../../usage/events/live-events.ts';
import type { EventForWallet } from '../../usage/ingest-events/missing-wallets.ts';
import { eventToMatch, joinLiveMetric } from '../../usage/match-events/event-to-match.ts';

/** Models with calls that wait and were not looked at with this version of the book. */
export const listModelsToLookAt = ({ db, organizationId }: Scope, version: string, limit: number) => db<ModelName[]>`
  select distinct provider, model from ai_unpriced_models
  where organization_id = ${organizationId} and events > 0 and looked_book is distinct from ${version}
  order by provider, model limit ${limit}`;

/** These models were looked at with this version. */
export const markLookedAt = ({ db, organizationId }: Scope, models: readonly ModelName[], version: string) => db`
  update ai_unpriced_models set looked_book = ${version}
  where organization_id = ${organizationId} and (provider, model) in (
    select * from unnest(${models.map(({ provider }) => provider)}::text[],
      ${models.map(({ model }) => model)}::text[]))`;

/** Among how many calls those of a page are chosen. */
const LOOKED_THROUGH = 5000;

/** A call that waits for a price, locked, with whose it is. */
export interface WaitingCall extends EventToCorrect {
  external_subscription_id: ExternalSubscriptionId;
}

/** Calls of a model that were not looked at with a version of the book. */
interface WaitingOf extends ModelName {
  version: string;
}

/**
 * Whose the first calls of a model are that were not looked at with this version: of some thousands those that make up
 * a page, so that one subscription has as many of its calls in it as possible.
 */
export async function listSubscriptions(
  scope: Scope,
  model: WaitingOf,
  { calls, subscriptions }: { calls: number; subscriptions: number },
): Promise<ExternalSubscriptionId[]> {
  const rows = await scope.db<{ external_subscription_id: ExternalSubscriptionId; count: number }[]>`
    select external_subscription_id, count(*)::int as count
    from (
      select external_subscription_id, event_id from ai_unpriced where ${isToLookAt(scope, model)}
      order by event_id limit ${LOOKED_THROUGH}
    ) first
    group by external_subscription_id
    order by min(event_id::text collate "C") limit ${subscriptions}`;
  const before = rows.map((_, index) => rows.slice(0, index).reduce((sum, { count }) => sum + count, 0));
  return rows.filter((_, index) => before[index]! < calls).map(({ external_subscription_id: id }) => id);
}

/** Marks a page of calls of a model and of subscriptions as looked at, and locks their events that may be corrected. */
export const takeWaiting = (
  scope: Scope,
  { subscriptions, ...model }: WaitingOf & { subscriptions: readonly ExternalSubscriptionId[] },
  limit: number,
) => {
  const { db, organizationId } = scope;
  return db<WaitingCall[]>`
  with page as materialized (
    update ai_unpriced set book = ${model.version}
    where organization_id = ${organizationId} and event_id in (
      select event_id from ai_unpriced
      where ${isToLookAt(scope, model)} and external_subscription_id = any (${subscriptions}::text[])
      order by event_id limit ${limit})
    returning event_id
  )
  select id, external_subscription_id, code, ${isoText(db, db`timestamp`)} as timestamp,
    properties::text as properties, trim_scale(precise_total_amount_cents)::text as precise_total_amount_cents
  from events e
  where id in (select event_id from page) and organization_id = ${organizationId} and ${isLive(db, db`e`)}
    and not ${isClosed(db, {
      organizationId: db`e.organization_id`,
      subscription: db`e.external_subscription_id`,
      code: db`e.code`,
      at: db`e.timestamp`,
    })}
  order by id
  for update`;
};

/** In the words of the index `ai_unpriced_open`. */
const isToLookAt = ({ db, organizationId }: Scope, { provider, model, version }: WaitingOf) => db`
  organization_id = ${organizationId} and provider = ${provider} and model = ${model} and status = 'open'
  and reason = 'price' and book <> ${version}`;

/** Healed events as they are matched to charges that bill them in advance; wallets were looked for when they came. */
export const listToMatch = ({ db, organizationId }: Scope, ids: readonly EventId[]) => db<EventForWallet[]>`
  select ${eventToMatch(db)}, null as target_wallet_code
  from events e
  ${joinLiveMetric(db)}
  where e.organization_id = ${organizationId} and e.id = any (${ids}::uuid[]) and ${isLive(db, db`e`)}
    and not exists (
      select from event_batches batch
      where batch.organization_ids @> array[${organizationId}::uuid] and e.id = any (batch.event_ids))`;

/** Organizations with models that were not looked at with the present version of their book, by their ids. */
export const listOrganizationsToHeal = (db: Db, after: string | null, limit: number) => db<{ id: OrganizationId }[]>`
  select o.id from organizations o, price_layers layer
  where layer.name = 'deployment' ${after === null ? db`` : db`and o.id > ${after}`} and exists (
    select from ai_unpriced_models known
    where known.organization_id = o.id and known.events > 0 and known.looked_book is distinct from ${presentBook(db)})
  order by o.id limit ${limit}`;

/** Owes the step to organizations that have none. */
export const oweHealing = (
  db: Db,
  steps: readonly { id: string; organization_id: OrganizationId }[],
  at: Temporal.Instant,
) => db<{ id: string; organization_id: OrganizationId; customer_id: CustomerId | null }[]>`
  insert into after_steps (id, organization_id, job, payload, created_at, enqueued_at)
  select step.id, step.organization_id, 'heal-prices', '{}', ${at}, ${at}
  from jsonb_to_recordset(${json([...steps])}::jsonb) as step (id uuid, organization_id uuid)
  where not exists (
    select from after_steps owed where owed.organization_id = step.organization_id and owed.job = 'heal-prices')
  returning id, organization_id, null::uuid as customer_id`;
