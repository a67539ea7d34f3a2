import { decimalText } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { seconds } from '../../../platform/schema/view.ts';
import { nearestNames } from './nearest-names.ts';
import { ignoreModel, listKnownNames, listUnknownModels } from './queries.ts';
import type { IgnoreUnknown, UnknownModelsQuery } from './schema.ts';

/** Models with calls that have no amount, with names of the book that may be meant. */
export async function showUnknownModels(ctx: Context, { query }: { query: UnknownModelsQuery }) {
  const [{ rows, totalCount }, known] = await Promise.all([listUnknownModels(ctx, query), listKnownNames(ctx)]);
  return {
    unknown_models: rows.map((row) => ({
      ...row,
      tokens: decimalText(row.tokens),
      first_seen_at: seconds(row.first_seen_at),
      last_seen_at: seconds(row.last_seen_at),
      nearest: nearestNames(row, known),
    })),
    meta: pageMeta(query, totalCount),
  };
}

/** Calls of a model that wait are free of charge by choice; calls that come later wait again. */
export async function ignoreUnknown(ctx: Context, { body }: { body: IgnoreUnknown }) {
  const { provider, model } = body;
  return { ignored: { provider, model, events: await ignoreModel(ctx, body) } };
}
