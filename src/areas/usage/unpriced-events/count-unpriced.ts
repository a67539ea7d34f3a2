import type { Db } from '../../../platform/db/connect.ts';
import { json } from '../../../platform/db/values.ts';
import { type EventId, newId, type OrganizationId } from '../../../platform/ids.ts';
import { presentBook } from '../../catalog/model-books/book-version.ts';
import { isWaitingByKey } from './waiting-by-key.ts';

/** A stored call without an amount, as a batch that is finished has it. */
export interface UnpricedEvent {
  event_id: EventId;
  organization_id: OrganizationId;
  provider: string;
  model: string;
  tier: string;
  missing_kinds: string[];
  /** Digits: more than a double holds, of very many calls. */
  tokens: string;
  transaction_id: string;
  /** When it was received, ISO text. */
  created_at: string;
}

/** Name of the owed work that announces models without prices. */
export const TELL_UNKNOWN_MODELS_STEP = 'tell-unknown-models';

/** Name of the owed work that rates calls which wait for a price. */
export const HEAL_PRICES_STEP = 'heal-prices';

/** Calls of one model and tier in a batch. */
interface Sighting {
  organization_id: OrganizationId;
  provider: string;
  model: string;
  tier: string;
  missing_kinds: string[];
  events: number;
  tokens: string;
  first_seen_at: string;
  last_seen_at: string;
  transaction_id: string;
}

/** What is announced of a model without a price. */
export interface UnknownModel {
  organization_id: OrganizationId;
  provider: string;
  model: string;
  tier: string;
  missing_kinds: string[];
  sample_transaction_id: string;
}

/**
 * Counts calls without an amount by model and tier, in the transaction that finishes their batch: one row a model. What
 * is seen for the first time on a day is owed to the subscribers of `price_book.model_unknown`. A book that was written
 * between the rating of a call and this transaction was looked at before the call was counted, so it is owed again.
 *
 * @returns the steps that announce and heal
 * Rules: price-book.md#unknown-models, price-book.md#healing.
 */
export async function countUnpriced(tx: Db, events: readonly UnpricedEvent[]) {
  if (events.length === 0) return [];
  const sightings = sightingsOf(events);
  await tx`
    insert into ai_unpriced_models as known (organization_id, provider, model, tier, missing_kinds, events, tokens,
      first_seen_at, last_seen_at)
    select * from jsonb_to_recordset(${json(sightings)}::jsonb) as seen (organization_id uuid, provider text, model text,
      tier text, missing_kinds text[], events bigint, tokens numeric, first_seen_at timestamptz,
      last_seen_at timestamptz)
    order by organization_id, provider collate "C", model collate "C", tier collate "C"
    on conflict (organization_id, provider, model, tier) do update set
      missing_kinds = array(select distinct unnest(known.missing_kinds || excluded.missing_kinds) order by 1),
      events = known.events + excluded.events, tokens = known.tokens + excluded.tokens,
      looked_book = null,
      first_seen_at = least(known.first_seen_at, excluded.first_seen_at),
      last_seen_at = greatest(known.last_seen_at, excluded.last_seen_at)`;
  const untold = await tx<Omit<UnknownModel, 'sample_transaction_id'>[]>`
    update ai_unpriced_models known set told_on = (seen.last_seen_at at time zone 'UTC')::date
    from jsonb_to_recordset(${json(sightings)}::jsonb)
      as seen (organization_id uuid, provider text, model text, tier text, last_seen_at timestamptz)
    where known.organization_id = seen.organization_id and known.provider = seen.provider and known.model = seen.model
      and known.tier = seen.tier and known.told_on is distinct from (seen.last_seen_at at time zone 'UTC')::date
    returning known.organization_id, known.provider, known.model, known.tier, known.missing_kinds`;
  const outdated = await listOutdated(
    tx,
    events.map(({ organization_id, event_id }) => ({ organization_id, event_id })),
  );
  const healing = outdated.map(({ id }) => ({
    id: newId(),
    organization_id: id,
    job: HEAL_PRICES_STEP as typeof HEAL_PRICES_STEP,
    payload: {},
  }));
  const announcements = untold.map((model) => ({
    id: newId(),
    organization_id: model.organization_id,
    job: TELL_UNKNOWN_MODELS_STEP as typeof TELL_UNKNOWN_MODELS_STEP,
    payload: {
      ...nameOf(model),
      missing_kinds: model.missing_kinds,
      sample_transaction_id: sampleOf(sightings, model),
    },
  }));
  return [...announcements, ...healing];
}

/** Organizations whose book has another version than calls of these were rated with. */
const listOutdated = (tx: Db, keys: readonly Pick<UnpricedEvent, 'organization_id' | 'event_id'>[]) => tx<
  { id: OrganizationId }[]
>`
  select distinct o.id
  from jsonb_to_recordset(${json(keys)}::jsonb)
    as call (organization_id uuid, event_id uuid)
  cross join lateral (
    select waiting.book from ai_unpriced waiting
    where waiting.organization_id = call.organization_id and waiting.event_id = call.event_id
      and ${isWaitingByKey(tx, tx`waiting`)} and waiting.reason = 'price'
    limit 1
  ) waiting
  join organizations o on o.id = call.organization_id
  join price_layers layer on layer.name = 'deployment'
  where waiting.book <> ${presentBook(tx)}`;

type Named = Pick<Sighting, 'organization_id' | 'provider' | 'model' | 'tier'>;

const nameOf = ({ provider, model, tier }: Named) => ({ provider, model, tier });

const keyOf = (named: Named): string =>
  JSON.stringify([named.organization_id, named.provider, named.model, named.tier]);

const sampleOf = (sightings: readonly Sighting[], model: Named): string =>
  sightings.find((each) => keyOf(each) === keyOf(model))!.transaction_id;

function sightingsOf(events: readonly UnpricedEvent[]): Sighting[] {
  const found = new Map<string, Sighting>();
  for (const { event_id: _, tokens, created_at, missing_kinds, ...event } of events) {
    const known = found.get(keyOf(event));
    if (!known) {
      const times = { first_seen_at: created_at, last_seen_at: created_at };
      found.set(keyOf(event), { ...event, ...times, missing_kinds: [...missing_kinds], events: 1, tokens });
      continue;
    }
    known.events += 1;
    known.tokens = String(BigInt(known.tokens) + BigInt(tokens));
    known.missing_kinds = [...new Set([...known.missing_kinds, ...missing_kinds])];
    if (created_at < known.first_seen_at) known.first_seen_at = created_at;
    if (created_at > known.last_seen_at) known.last_seen_at = created_at;
  }
  return [...found.values()];
}
