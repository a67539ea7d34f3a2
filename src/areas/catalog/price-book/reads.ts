import { STANDARD_TIER } from '../../../engine/ai/rating/price-row.ts';
import { allPrices, resolvePrices } from '../../../engine/ai/rating/resolve-prices.ts';
import { decimalText } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { seconds } from '../../../platform/schema/view.ts';
import { versionText } from '../model-books/book-version.ts';
import { readModels } from '../model-books/read-models.ts';
import { microseconds } from './add-entries.ts';
import { getBookVersion, listAliases, listEntries, listModels } from './queries.ts';
import type { PriceEntriesQuery, PriceModelsQuery, ResolveQuery } from './schema.ts';
import { entryView, modelView } from './view.ts';

export async function listPriceEntries(ctx: Context, { query }: { query: PriceEntriesQuery }) {
  const { settings } = await getBookVersion(ctx);
  const { usesDeployment } = settings;
  const { rows, totalCount } = await listEntries(ctx, query, { usesDeployment, now: ctx.now() });
  return { entries: rows.map(entryView), meta: pageMeta(query, totalCount) };
}

export async function listPriceModels(ctx: Context, { query }: { query: PriceModelsQuery }) {
  const { settings } = await getBookVersion(ctx);
  const { rows, totalCount } = await listModels(ctx, query, settings);
  return { models: rows.map(modelView), meta: pageMeta(query, totalCount) };
}

export const showAliases = async (ctx: Context) => ({ aliases: await listAliases(ctx) });

/**
 * The prices that hold for a call, by kind, each with the entry and the fallback that gave it. Without a size that of a
 * small call.
 *
 * Rule: price-book.md#resolution.
 */
export async function resolvePriceBook(ctx: Context, { query }: { query: ResolveQuery }) {
  const book = await getBookVersion(ctx);
  const [model] = await readModels(ctx.db, [{ book, provider: query.provider, model: query.model }]);
  const at = query.at ?? ctx.now();
  const tier = query.tier ?? STANDARD_TIER;
  const prices = resolvePrices(model!.table, {
    tier,
    at: microseconds(at.toString()),
    inputTokens: query.input_tokens ?? 0,
    usesDeployment: book.settings.usesDeployment,
  });
  return {
    resolution: {
      provider: model!.provider,
      model: model!.model,
      tier,
      at: seconds(at),
      book_version: versionText(book),
      flags: [...(model!.flag === null ? [] : [model!.flag]), ...prices.flags],
      prices: allPrices(prices).map(([kind, { row, fallback }]) => ({
        kind,
        cost: decimalText(row.cost),
        sell: row.sell && decimalText(row.sell),
        per: row.per,
        min_input_tokens: row.min_input_tokens,
        valid_from: `${row.valid_from.slice(0, 19)}Z`,
        layer: row.layer,
        svc_price_entry_id: row.id,
        fallback,
      })),
    },
  };
}
