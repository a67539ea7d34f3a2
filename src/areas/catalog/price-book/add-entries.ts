import type { ModelName } from '../../../engine/ai/rating/model-name.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import { isoText } from '../../../platform/db/iso-text.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { newId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { OUT_OF_RANGE } from '../../../platform/schema/fields.ts';
import type { LayerScope } from './book-locks.ts';
import type { PriceDraft } from './definition.ts';

/** How many entries an organization may have, retracted ones too, and how many of them of one model. */
const ENTRIES_MAX = 100_000;
const ENTRIES_OF_MODEL_MAX = 2000;

/** Entries sorted by what becomes of them. */
export interface SortedDrafts {
  /** Those to be written. */
  added: (PriceDraft & { id: string })[];
  /** Live rows that say the same already. */
  unchanged: string[];
}

/** A live row of the layer, and its place in time. */
export interface LiveRow {
  id: string;
  provider: string;
  model: string;
  tier: string;
  kind: string;
  min_input_tokens: number;
  /** ISO text with microseconds. */
  valid_from: string;
  cost: Decimal;
  sell: Decimal | null;
  per: number;
}

/**
 * Live rows of the layer with these models, the newest of each key first. To be called under the layer's lock.
 *
 * The models are looked up one by one: of rows that were just written Postgres knows nothing, and compared each with
 * each model. Measured with 2 600 models of 20 800 prices: 9.4 s, and 0.1 s by the index.
 */
export const listLiveRows = ({ db, organizationId }: LayerScope, entries: readonly ModelName[]) => {
  const models = distinctModels(entries);
  return db<LiveRow[]>`
  select own.* from unnest(${models.map(({ provider }) => provider)}::text[],
    ${models.map(({ model }) => model)}::text[]) asked (provider, model)
  cross join lateral (
    select id, provider, model, tier, kind, min_input_tokens, ${isoText(db, db`valid_from`)} as valid_from, cost,
      sell, per, book_version
    from price_entries
    where ${organizationId === null ? db`organization_id is null` : db`organization_id = ${organizationId}`}
      and provider = asked.provider and model = asked.model and retracted_version is null
    offset 0
  ) own
  order by own.valid_from desc, own.book_version desc`;
};

/** The models of entries, each once. */
const distinctModels = (entries: readonly ModelName[]): ModelName[] => [
  ...new Map(entries.map(({ provider, model }) => [JSON.stringify([provider, model]), { provider, model }])).values(),
];

/**
 * Sorts entries by what the layer has: one with the figures of the row in force for its key and time is unchanged, any
 * other one is a new row, which corrects that row. Of several with one key and time the last one counts.
 */
export function sortDrafts(drafts: readonly PriceDraft[], live: readonly LiveRow[]): SortedDrafts {
  const newest = new Map<string, LiveRow>();
  for (const row of live) {
    const key = keyOf(row, row.valid_from);
    if (!newest.has(key)) newest.set(key, row);
  }
  const last = new Map(drafts.map((draft) => [keyOf(draft, microseconds(draft.valid_from)), draft]));
  const sorted: SortedDrafts = { added: [], unchanged: [] };
  for (const [key, draft] of last) {
    const row = newest.get(key);
    if (row && isSamePrice(row, draft)) sorted.unchanged.push(row.id);
    else sorted.added.push({ ...draft, id: newId() });
  }
  return sorted;
}

/** Whether two prices have the same figures. */
export const isSamePrice = (
  a: Pick<LiveRow, 'cost' | 'sell' | 'per'>,
  b: Pick<LiveRow, 'cost' | 'sell' | 'per'>,
): boolean =>
  a.per === b.per && a.cost.eq(b.cost) && (a.sell === null || b.sell === null ? a.sell === b.sell : a.sell.eq(b.sell));

type Key = Pick<LiveRow, 'provider' | 'model' | 'tier' | 'kind' | 'min_input_tokens'>;

export const keyOf = ({ provider, model, tier, kind, min_input_tokens: min }: Key, at: string): string =>
  JSON.stringify([provider, model, tier, kind, min, at]);

/** UTC text of an instant with six fractional digits. */
export function microseconds(utc: string): string {
  const [whole, fraction = ''] = utc.replace(/Z$/, '').split('.');
  return `${whole}.${fraction.padEnd(6, '0')}Z`;
}

/**
 * Writes entries of a layer with its next version.
 *
 * @throws Refusal 422 entries: value_is_out_of_range, beyond what an organization may have, before anything is written
 */
export async function writeEntries(
  { db, organizationId }: LayerScope,
  { added, version, now }: { added: SortedDrafts['added']; version: number; now: string },
): Promise<void> {
  if (organizationId !== null) await refuseTooMany({ db, organizationId }, added);
  const column = <Name extends keyof (typeof added)[number]>(name: Name) => added.map((entry) => entry[name]);
  await db`
    insert into price_entries (id, organization_id, provider, model, tier, kind, min_input_tokens, cost, sell, per,
      currency, valid_from, source, source_ref, book_version, created_at)
    select id, ${organizationId}::uuid, provider, model, tier, kind, min_input_tokens, cost, sell, per, currency,
      valid_from, source, source_ref, ${version}, ${now}::timestamptz
    from unnest(${column('id')}::uuid[], ${column('provider')}::text[], ${column('model')}::text[],
      ${column('tier')}::text[], ${column('kind')}::text[], ${column('min_input_tokens')}::bigint[],
      ${added.map(({ cost }) => cost.toFixed())}::numeric[],
      ${added.map(({ sell }) => sell?.toFixed() ?? null)}::numeric[], ${column('per')}::bigint[],
      ${column('currency')}::text[], ${column('valid_from')}::timestamptz[], ${column('source')}::text[],
      ${column('source_ref')}::text[])
      as entry (id, provider, model, tier, kind, min_input_tokens, cost, sell, per, currency, valid_from, source,
        source_ref)`;
}

/** Counts what there is, retracted ones too, with what would be added. */
async function refuseTooMany({ db, organizationId }: Scope, added: readonly ModelName[]): Promise<void> {
  const [row] = await db<{ total: number; most: number }[]>`
    select coalesce(sum(own), 0)::bigint as total, coalesce(max(own), 0)::bigint as most
    from (
      select sum(entries) as own
      from (
        select provider, model, count(*) as entries from price_entries where organization_id = ${organizationId}
        group by provider, model
        union all
        select provider, model, count(*) from unnest(${added.map(({ provider }) => provider)}::text[],
          ${added.map(({ model }) => model)}::text[]) added (provider, model)
        group by provider, model
      ) counted
      group by provider, model
    ) of_model`;
  if (row!.total > ENTRIES_MAX || row!.most > ENTRIES_OF_MODEL_MAX) throw refuse.invalid({ entries: [OUT_OF_RANGE] });
}
