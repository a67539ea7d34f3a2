import type { Temporal } from 'temporal-polyfill';
import type { Kind } from '../../../engine/ai/kinds.ts';
import type { Layer } from '../../../engine/ai/rating/price-row.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { containsPattern } from '../../../platform/lists/filters.ts';
import { limitOf } from '../../../platform/lists/pagination.ts';
import { type BookVersion, bookVersion } from '../model-books/book-version.ts';
import type { PriceEntriesQuery, PriceModelsQuery } from './schema.ts';

export interface PriceEntryRow {
  id: string;
  layer: Layer;
  provider: string;
  model: string;
  tier: string;
  kind: Kind;
  min_input_tokens: number;
  cost: Decimal;
  sell: Decimal | null;
  per: number;
  currency: string;
  valid_from: Temporal.Instant;
  source: string | null;
  source_ref: string | null;
  book_version: number;
  created_at: Temporal.Instant;
}

export const entryColumns = (db: Db): Fragment => db`
  id, case when organization_id is null then 'deployment' else 'organization' end as layer, provider, model, tier, kind,
  min_input_tokens, cost, sell, per, currency, valid_from, source, source_ref, book_version, created_at`;

/** The present version of an organization's book, with its settings. */
export async function getBookVersion({ db, organizationId }: Scope): Promise<BookVersion> {
  const [row] = await db<Parameters<typeof bookVersion>[0][]>`
    select o.id, o.book_version, o.ai_settings, layer.version as deployment_version
    from organizations o, price_layers layer where o.id = ${organizationId} and layer.name = 'deployment'`;
  return bookVersion(row!);
}

/** The rows of a layer that an organization reads. */
const ofLayer = ({ db, organizationId }: Scope, layer: Layer): Fragment =>
  layer === 'organization' ? db`organization_id = ${organizationId}` : db`organization_id is null`;

const entriesOf = (scope: Scope, layer: Layer, query: PriceEntriesQuery): Fragment => {
  const { db } = scope;
  return db`
    select ${entryColumns(db)} from price_entries
    where ${ofLayer(scope, layer)} and retracted_version is null
      ${query.provider === undefined ? db`` : db`and provider = ${query.provider}`}
      ${query.model === undefined ? db`` : db`and model = ${query.model}`}
      ${query.tier === undefined ? db`` : db`and tier = ${query.tier}`}
      ${query.kind === undefined ? db`` : db`and kind = ${query.kind}`}`;
};

/**
 * A page of the entries of one layer or of both, and how many there are. With `at` those in force then; `effective`:
 * of both layers the one that holds for each key.
 */
export async function listEntries(
  scope: Scope,
  query: PriceEntriesQuery,
  { usesDeployment, now }: { usesDeployment: boolean; now: Temporal.Instant },
): Promise<{ rows: PriceEntryRow[]; totalCount: number }> {
  const { db } = scope;
  const { limit, offset } = limitOf(query);
  const isEffective = query.layer === 'effective';
  const at = query.at ?? (isEffective ? now : undefined);
  const layers: Layer[] =
    query.layer === 'organization' || query.layer === 'deployment'
      ? [query.layer]
      : isEffective && !usesDeployment
        ? ['organization']
        : ['organization', 'deployment'];
  const [first, second] = layers.map((layer) => entriesOf(scope, layer, query));
  const all = second ? db`${first!} union all ${second}` : first!;
  const key = db`provider, model, kind, min_input_tokens, tier`;
  const found =
    at === undefined
      ? all
      : db`
        select distinct on (${key} ${isEffective ? db`` : db`, layer`}) * from (${all}) as entry
        where valid_from <= ${at}
        order by ${key} ${isEffective ? db`, layer desc` : db`, layer`}, valid_from desc, book_version desc`;
  const [rows, [count]] = await Promise.all([
    db<PriceEntryRow[]>`
      select * from (${found}) as entry
      order by provider, model, kind, min_input_tokens, valid_from desc, tier, book_version desc, id
      limit ${limit} offset ${offset}`,
    db<{ total: number }[]>`select count(*) as total from (${found}) as entry`,
  ]);
  return { rows, totalCount: count!.total };
}

/** An entry that an organization reads; a retracted one is none. */
export async function findEntry({ db, organizationId }: Scope, id: string): Promise<PriceEntryRow | undefined> {
  const [row] = await db<PriceEntryRow[]>`
    select ${entryColumns(db)} from price_entries
    where (organization_id = ${organizationId} or organization_id is null) and id = ${id}
      and retracted_version is null`;
  return row;
}

export interface PriceModelRow {
  provider: string;
  model: string;
  aliases: string[];
  tiers: string[];
  kinds: Kind[];
  source: string | null;
  newest_valid_from: Temporal.Instant;
}

/** A page of the models that the book has prices of, and how many there are. */
export async function listModels(
  { db, organizationId }: Scope,
  query: PriceModelsQuery,
  { usesDeployment }: { usesDeployment: boolean },
): Promise<{ rows: PriceModelRow[]; totalCount: number }> {
  const { limit, offset } = limitOf(query);
  const layers = usesDeployment
    ? db`(organization_id = ${organizationId} or organization_id is null)`
    : db`organization_id = ${organizationId}`;
  const priced = db`
    from price_entries entry
    where ${layers} and retracted_version is null
      ${query.provider === undefined ? db`` : db`and provider = ${query.provider}`}
      ${query.search_term === undefined ? db`` : db`and provider || '/' || model ilike ${containsPattern(query.search_term)}`}`;
  const [rows, [count]] = await Promise.all([
    db<PriceModelRow[]>`
      select found.*, array(
        select pattern from price_aliases alias
        where alias.organization_id = ${organizationId} and alias.target_model = found.model
          and coalesce(alias.target_provider, alias.provider) = found.provider
        order by pattern) as aliases
      from (
        select provider, model, array_agg(distinct tier) as tiers, array_agg(distinct kind) as kinds,
          (array_agg(source order by valid_from desc, book_version desc))[1] as source,
          max(valid_from) as newest_valid_from
        ${priced}
        group by provider, model order by provider, model limit ${limit} offset ${offset}
      ) as found
      order by provider, model`,
    db<{ total: number }[]>`
      select count(*) as total from (select ${priced} group by provider, model) as found`,
  ]);
  return { rows, totalCount: count!.total };
}

export interface AliasRow {
  provider: string;
  pattern: string;
  target_provider: string | null;
  target_model: string;
}

export const listAliases = ({ db, organizationId }: Scope) => db<AliasRow[]>`
  select provider, pattern, target_provider, target_model from price_aliases
  where organization_id = ${organizationId} order by provider, pattern`;

/** How many open events wait for a price of one of these models, by the names that calls gave. */
export async function countWaiting(
  { db, organizationId }: Scope,
  models: readonly { provider: string; model: string }[],
): Promise<number> {
  const [row] = await db<{ events: number }[]>`
    select coalesce(sum(events), 0)::bigint as events from ai_unpriced_models
    where organization_id = ${organizationId} and (provider, model) in (
      select * from unnest(${models.map(({ provider }) => provider)}::text[],
        ${models.map(({ model }) => model)}::text[]))`;
  return row!.events;
}

/** How many events of these models were rated since their days; whole days, as far as these are summed. */
export async function countRated(
  { db, organizationId }: Scope,
  models: readonly { provider: string; model: string; valid_from: string }[],
): Promise<number> {
  const [row] = await db<{ events: number }[]>`
    with asked as (
      select provider, model, min(since) as since
      from unnest(${models.map(({ provider }) => provider)}::text[], ${models.map(({ model }) => model)}::text[],
        ${models.map(({ valid_from: from }) => from.slice(0, 10))}::date[]) as asked (provider, model, since)
      group by provider, model
    )
    select coalesce(sum(summed.events - summed.unpriced), 0)::bigint as events
    from asked
    join ai_groups g on g.organization_id = ${organizationId} and g.provider = asked.provider and g.model = asked.model
    join ai_usage_days summed on summed.organization_id = ${organizationId} and summed.group_hash = g.group_hash
      and summed.day >= asked.since`;
  return row!.events;
}

export const listEntriesByIds = ({ db, organizationId }: Scope, ids: readonly string[]) => db<PriceEntryRow[]>`
  select ${entryColumns(db)} from price_entries
  where organization_id = ${organizationId} and id = any (${ids}::uuid[])
  order by provider, model, kind, min_input_tokens, valid_from desc, tier`;
