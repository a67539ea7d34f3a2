import { isObject } from '../../../engine/ai/price-files/read-price.ts';
import type { Context } from '../../../platform/context.ts';
import { json } from '../../../platform/db/values.ts';
import { isUuid } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { refuseFaults } from '../../../platform/schema/faults.ts';
import { INVALID } from '../../../platform/schema/fields.ts';
import { listLiveRows, sortDrafts, writeEntries } from './add-entries.ts';
import { lockBook, raiseBookVersion } from './book-locks.ts';
import { priceDrafts } from './definition.ts';
import { importPrices } from './import-prices.ts';
import { countRated, countWaiting, findEntry, getBookVersion, listAliases, listEntriesByIds } from './queries.ts';
import type { AliasesInput, PriceEntriesInput, PriceImportQuery } from './schema.ts';
import { entryView } from './view.ts';

/**
 * Writes prices of the organization, all or none. One with the figures of a live row of the same key and time is
 * unchanged; one with others corrects it. Without any new one the version stays.
 *
 * @throws Refusal 422 cost, sell, per, currency, entries
 * Rule: price-book.md#entries.
 */
export async function addPriceEntries(ctx: Context, { body: { entries } }: { body: PriceEntriesInput }) {
  const now = ctx.now().toString();
  await lockBook(ctx);
  const book = await getBookVersion(ctx);
  const { drafts, faults } = priceDrafts(entries, { currency: book.settings.currency, now });
  refuseFaults(faults);
  const { added, unchanged } = sortDrafts(drafts, await listLiveRows(ctx, drafts));
  let version = book.organization;
  if (added.length > 0) {
    version = await raiseBookVersion(ctx);
    await writeEntries(ctx, { added, version, now });
    ctx.after({ step: 'heal-prices', payload: {} });
  }
  const rows = await listEntriesByIds(ctx, [...unchanged, ...added.map(({ id }) => id)]);
  return {
    entries: rows.map(entryView),
    book_version: version,
    affects: { unpriced_events: await countWaiting(ctx, drafts), rated_events: await countRated(ctx, drafts) },
  };
}

/**
 * Retracts a price: it holds no more, and what was rated with it stays.
 *
 * @throws Refusal 403 deployment_price; 404 price_entry
 */
export async function retractPriceEntry(ctx: Context, { svc_id: id }: { svc_id: string }) {
  await lockBook(ctx);
  const entry = isUuid(id) ? await findEntry(ctx, id) : undefined;
  if (!entry) throw refuse.notFound('price_entry');
  if (entry.layer === 'deployment') throw refuse.forbidden('deployment_price');
  const version = await raiseBookVersion(ctx);
  await ctx.db`
    update price_entries set retracted_version = ${version}
    where organization_id = ${ctx.organizationId} and id = ${entry.id}`;
  return { entry: entryView(entry) };
}

/** Replaces the names of models of the organization. Rule: price-book.md#names. */
export async function putAliases(ctx: Context, { body: { aliases } }: { body: AliasesInput }) {
  await lockBook(ctx);
  const last = new Map(aliases.map((alias) => [JSON.stringify([alias.provider, alias.pattern]), alias]));
  await raiseBookVersion(ctx);
  await ctx.db`delete from price_aliases where organization_id = ${ctx.organizationId}`;
  await ctx.db`
    insert into price_aliases (organization_id, provider, pattern, target_provider, target_model)
    select ${ctx.organizationId}::uuid, provider, pattern, nullif(target_provider, ''), target_model
    from jsonb_to_recordset(${json([...last.values()])}::jsonb)
      as alias (provider text, pattern text, target_provider text, target_model text)`;
  ctx.after({ step: 'heal-prices', payload: {} });
  return { aliases: await listAliases(ctx) };
}

/**
 * Imports a file of prices into the organization's layer.
 *
 * @throws Refusal 422 currency, when the book is not in US dollars; base, when the file is no object, is empty or looks
 *   like an error
 * Rule: price-book.md#imports.
 */
export async function importPriceFile(ctx: Context, { body, query }: { body: unknown; query: PriceImportQuery }) {
  if (!isObject(body) || Object.keys(body).length === 0) throw refuse.invalid({ base: [INVALID] });
  const { settings } = await getBookVersion(ctx);
  if (settings.currency !== 'USD') throw refuse.invalid({ currency: [INVALID] });
  const imported = await importPrices(ctx, {
    content: body,
    options: {
      source: query.source,
      validFrom: query.valid_from?.toString() ?? null,
      dryRun: query.dry_run ?? false,
      providers: query.providers ?? null,
      acceptZero: query.accept_zero ?? false,
      force: query.force ?? false,
    },
    now: ctx.now().toString(),
  });
  if (!query.dry_run && imported.entries_new + imported.entries_changed > 0) {
    const { changes: _, ...counts } = imported;
    ctx.after({ step: 'heal-prices', payload: {} });
    ctx.record({
      webhook: { type: 'price_book.imported', objectType: 'price_import', objectId: null, object: counts },
    });
  }
  return { import: imported };
}
