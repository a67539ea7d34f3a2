import type { Context } from '../../../platform/context.ts';
import { getRow } from '../../../platform/db/rows.ts';
import { listPage, newestFirst } from '../../../platform/lists/list-page.ts';
import { viewOf } from '../../../platform/schema/columns.ts';
import { features } from './queries.ts';
import type { FeaturesQuery } from './schema.ts';

/** Features, newest first; `search_term` looks into name, code and description. Rule: lists.md#filters-and-order. */
export async function listFeatures(ctx: Context, { query }: { query: FeaturesQuery }) {
  const searched = ['name', 'code', 'description'];
  const { rows, meta } = await listPage(ctx, features, query, { order: newestFirst, searched });
  return { features: rows.map((feature) => viewOf(features, feature)), meta };
}

/** @throws Refusal 404 feature */
export async function showFeature(ctx: Context, { code }: { code: string }) {
  return { feature: viewOf(features, await getRow(ctx, features, code)) };
}
