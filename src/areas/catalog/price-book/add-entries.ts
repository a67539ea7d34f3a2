import type { ModelName } from '../../../engine/ai/rating/model-name.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import { isoText } from '../../../platform/db/iso-text.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
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

/** Live rows of the layer with these models, the newest of each key first. To be called under the layer's lock. */
export const listLiveRows = ({ db, organizationId }: LayerScope, entries: readonly ModelName[]) => {
  const models = distinctModels(entries);
  return db<LiveRow[]>`
  select id, provider, model, tier, kind, min_input_tokens, ${isoText(db, db`valid_from`)} as valid_from, cost, sell,
    per
  from price_entries
  where ${organizationId === null ? db`organization_id is null` : db`organization_id = ${organizationId}`}
    and (provider, model) in (
      select * from unnest(${models.map(({ provider }) => provider)}::text[],
        ${models.map(({ model }) => model)}::text[]))
    and retracted_version is null
  order by valid_from desc, book_version desc`;
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
 * @throws Refusal 422 entries: value_is_out_of_range, beyond what an organization may have
 */
export async function writeEntries(
  { db, organizationId }: LayerScope,
  { added, version, now }: { added: SortedDrafts['added']; version: number; now: string },
): Promise<void> {
  await db`
    insert into price_entries (id, organization_id, provider, model, tier, kind, min_input_tokens, cost, sell, per,
      currency, valid_from, source, source_ref, book_version, created_at)
    select id, ${organizationId}::uuid, provider, model, tier, kind, min_input_tokens, cost, sell, per, currency,
      valid_from, source, source_ref, ${version}, ${now}::timestamptz
    from jsonb_to_recordset(${json(added.map(texts))}::jsonb) as entry (id uuid, provider text, model text, tier text,
      kind text, min_input_tokens bigint, cost numeric, sell numeric, per bigint, currency text,
      valid_from timestamptz, source text, source_ref text)`;
  if (organizationId !== null) await refuseTooMany({ db, organizationId }, added);
}

/** Decimals as texts, which keep all digits. */
const texts = ({ cost, sell, ...entry }: SortedDrafts['added'][number]) => ({
  ...entry,
  cost: cost.toFixed(),
  sell: sell?.toFixed() ?? null,
});

async function refuseTooMany({ db, organizationId }: Scope, entries: readonly ModelName[]): Promise<void> {
  const models = distinctModels(entries);
  const [row] = await db<{ total: number; most: number }[]>`
    select (select count(*) from price_entries where organization_id = ${organizationId}) as total,
      (select coalesce(max(own), 0) from (
        select count(*) as own from price_entries
        where organization_id = ${organizationId} and (provider, model) in (
          select * from unnest(${models.map(({ provider }) => provider)}::text[],
            ${models.map(({ model }) => model)}::text[]))
        group by provider, model) as model) as most`;
  if (row!.total > ENTRIES_MAX || row!.most > ENTRIES_OF_MODEL_MAX) throw refuse.invalid({ entries: [OUT_OF_RANGE] });
}
