import { readLitellm } from '../../../engine/ai/price-files/litellm.ts';
import { readMeterstone } from '../../../engine/ai/price-files/meterstone.ts';
import { readModelsDev } from '../../../engine/ai/price-files/models-dev.ts';
import type { FilePrice, PriceFile } from '../../../engine/ai/price-files/read-price.ts';
import { providerName } from '../../../engine/ai/providers.ts';
import { type Decimal, decimalText } from '../../../engine/money/decimal.ts';
import { newId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { OUT_OF_RANGE } from '../../../platform/schema/fields.ts';
import {
  isSamePrice,
  keyOf,
  type LiveRow,
  listLiveRows,
  microseconds,
  type SortedDrafts,
  writeEntries,
} from './add-entries.ts';
import { type LayerScope, lockBook, raiseBookVersion, raiseDeploymentVersion } from './book-locks.ts';
import { INPUT_TOKENS_MAX, MODEL_MAX_BYTES, PROVIDER_MAX_BYTES, SOURCE_MAX, TIER_MAX_BYTES } from './schema.ts';

export interface ImportOptions {
  /** Whose file it is; `sample`: ours, of the form of `meterstone`. */
  source: 'litellm' | 'models_dev' | 'meterstone' | 'sample';
  /** UTC text; null: now, or long ago for a model that is new to the layer, so that it prices what waits for it. */
  validFrom: string | null;
  dryRun: boolean;
  /** Only of these; null: all. */
  providers: readonly string[] | null;
  acceptZero: boolean;
  /** Takes changes that look like an error. */
  force: boolean;
  /** As of when the prices of the file are, UTC text; absent: now. */
  asOf?: string;
}

/** A price that is another one than before. */
interface Change {
  model: string;
  kind: string;
  from: string;
  to: string;
  percent: string;
}

/** When prices of models begin that the layer did not have. */
const LONG_AGO = '2020-01-01T00:00:00Z';
/** A price that changes by more than this part, or a file with less than this part of the models, is refused. */
const MOST_CHANGE = 0.5;
const LEAST_MODELS = 0.8;
const CHANGES_SHOWN = 200;
/** Prices of one file of an organization: twice a published one. Measured: 48 000 take 7 s on a busy machine. */
const PRICES_MAX = 40_000;

/**
 * Imports a file of prices into a layer, in the caller's transaction; its lock is taken once all rows are computed.
 *
 * @throws Refusal 422 entries: value_is_out_of_range, of more prices than an organization's import takes, before
 *   anything is read; base: value_is_out_of_range, when prices change by more than half or a fifth of the models is
 *   gone
 * Rule: price-book.md#imports.
 */
export async function importPrices(
  layer: LayerScope,
  { content, options, now }: { content: unknown; options: ImportOptions; now: string },
) {
  const { db, organizationId } = layer;
  const file = readFile(content, options);
  const prices = chosen(file, options);
  if (layer.organizationId !== null && prices.length > PRICES_MAX) throw refuse.invalid({ entries: [OUT_OF_RANGE] });
  await lockBook(layer);
  const live = await listLiveRows(layer, prices);
  const plan = planOf(prices, live, { ...options, now });
  const models = new Set(prices.map(({ provider, model }) => JSON.stringify([provider, model]))).size;
  if (!options.force) {
    const before = await countLastModels(layer, options.source);
    const isOdd = plan.changes.some(({ isGreat }) => isGreat) || (!options.providers && models < before * LEAST_MODELS);
    if (isOdd) throw refuse.invalid({ base: [OUT_OF_RANGE] });
  }
  const isWritten = plan.added.length > 0 && !options.dryRun;
  const version = isWritten ? await raise(layer) : await presentVersion(layer);
  if (isWritten) await writeEntries(layer, { added: plan.added, version, now });
  if (!options.dryRun && !options.providers) await noteImport(layer, options.source, models);
  if (organizationId === null && !options.dryRun)
    await db`update price_layers set imported_at = ${options.asOf ?? now}::timestamptz where name = 'deployment'`;
  return {
    models,
    entries_new: plan.added.length - plan.changes.length,
    entries_changed: plan.changes.length,
    entries_unchanged: plan.unchanged,
    skipped: file.skipped,
    book_version: version,
    changes: plan.changes.slice(0, CHANGES_SHOWN).map(({ isGreat: _, ...change }) => change),
  };
}

function readFile(content: unknown, { source, acceptZero }: ImportOptions): PriceFile {
  if (source === 'litellm') return readLitellm(content, { acceptZero });
  return source === 'models_dev' ? readModelsDev(content, { acceptZero }) : readMeterstone(content);
}

/** Prices of the wanted providers whose names and places the book can hold; of equal places the last one. */
function chosen(file: PriceFile, { providers }: ImportOptions): FilePrice[] {
  const wanted = providers && new Set(providers.map(providerName));
  const found = new Map<string, FilePrice>();
  for (const price of file.prices) {
    if (wanted && !wanted.has(price.provider)) continue;
    const isStorable =
      isWithin(price.provider, PROVIDER_MAX_BYTES) &&
      isWithin(price.model, MODEL_MAX_BYTES) &&
      isWithin(price.tier, TIER_MAX_BYTES) &&
      isWithin(price.source_ref ?? '', SOURCE_MAX) &&
      price.min_input_tokens <= INPUT_TOKENS_MAX;
    if (isStorable) found.set(keyOf(price, price.valid_from ?? ''), price);
    else file.skipped.invalid_name = (file.skipped.invalid_name ?? 0) + 1;
  }
  return [...found.values()];
}

const isWithin = (text: string, bytes: number): boolean =>
  Buffer.byteLength(text) <= bytes && !text.includes('\0') && text.isWellFormed();

interface Plan {
  added: SortedDrafts['added'];
  unchanged: number;
  changes: (Change & { isGreat: boolean })[];
}

/** What becomes of each price: new, another one than the row in force then, or unchanged. */
function planOf(
  prices: readonly FilePrice[],
  live: readonly LiveRow[],
  { validFrom, source, now }: Pick<ImportOptions, 'validFrom' | 'source'> & { now: string },
): Plan {
  const rows = new Map<string, LiveRow[]>();
  for (const row of live) {
    const key = keyOf(row, '');
    const same = rows.get(key);
    if (same) same.push(row);
    else rows.set(key, [row]);
  }
  const known = new Set(live.map(({ provider, model }) => JSON.stringify([provider, model])));
  const plan: Plan = { added: [], unchanged: 0, changes: [] };
  for (const { valid_from: ownTime, source_ref: ref = null, ...price } of prices) {
    const isKnown = known.has(JSON.stringify([price.provider, price.model]));
    const from = ownTime ?? validFrom ?? (isKnown ? now : LONG_AGO);
    const former = rows.get(keyOf(price, ''))?.find((row) => row.valid_from <= microseconds(from));
    if (former && isSamePrice(former, price)) {
      plan.unchanged += 1;
      continue;
    }
    plan.added.push({ ...price, id: newId(), currency: 'USD', valid_from: from, source, source_ref: ref });
    if (former) plan.changes.push(changeOf(former, price));
  }
  return plan;
}

function changeOf(former: LiveRow, { model, kind, cost, per }: FilePrice): Change & { isGreat: boolean } {
  const [before, after]: [Decimal, Decimal] = [former.cost.div(former.per), cost.div(per)];
  const part = before.isZero() ? null : after.minus(before).div(before);
  return {
    model,
    kind,
    from: decimalText(former.cost),
    to: decimalText(cost),
    percent: part === null ? '' : decimalText(part.times(100).toDecimalPlaces(1)),
    isGreat: part === null ? !after.isZero() : part.abs().gt(MOST_CHANGE),
  };
}

const raise = ({ db, organizationId }: LayerScope): Promise<number> =>
  organizationId === null ? raiseDeploymentVersion(db) : raiseBookVersion({ db, organizationId });

async function presentVersion({ db, organizationId }: LayerScope): Promise<number> {
  const [row] =
    organizationId === null
      ? await db<{ version: number }[]>`select version from price_layers where name = 'deployment'`
      : await db<{ version: number }[]>`
          select book_version as version from organizations where id = ${organizationId}`;
  return row!.version;
}

/** How many models the last file of this source had; if that is not known, how many have prices from such files. */
async function countLastModels({ db, organizationId }: LayerScope, source: string): Promise<number> {
  const own = organizationId === null ? db`organization_id is null` : db`organization_id = ${organizationId}`;
  const [row] = await db<{ models: number }[]>`
    select coalesce(
      (select models from price_imports where ${own} and source = ${source}),
      (select count(distinct (provider, model)) from price_entries
        where ${own} and source = ${source} and retracted_version is null)) as models`;
  return row!.models;
}

const noteImport = ({ db, organizationId }: LayerScope, source: string, models: number) => db`
  insert into price_imports (organization_id, source, models) values (${organizationId}, ${source}, ${models})
  on conflict (organization_id, source) do update set models = excluded.models`;
