import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { countFeatures, getFeature, listFeatures } from './queries.ts';
import type { FeaturesQuery } from './schema.ts';
import { featureView } from './view.ts';

/** Features, newest first; `search_term` looks into name, code and description. Rule: lists.md#filters-and-order. */
export async function listAllFeatures(ctx: Context, { query }: { query: FeaturesQuery }) {
  const [features, count] = await Promise.all([
    listFeatures(ctx.db, ctx.organizationId, query.search_term, query),
    countFeatures(ctx.db, ctx.organizationId, query.search_term),
  ]);
  return { features: features.map(featureView), meta: pageMeta(query, count) };
}

/** @throws Refusal 404 feature */
export async function showFeature(ctx: Context, { code }: { code: string }) {
  return { feature: featureView(await getFeature(ctx.db, ctx.organizationId, code)) };
}
