import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { getProvider, listProviders } from './queries.ts';
import type { ProvidersQuery } from './schema.ts';
import { providerView } from './view.ts';

export async function listProvidersPage(ctx: Context, { query }: { query: ProvidersQuery }) {
  const { rows, totalCount } = await listProviders(ctx, query.types, query);
  return {
    payment_providers: rows.map((row) => providerView(row, ctx.config, ctx.organizationId)),
    meta: pageMeta(query, totalCount),
  };
}

/** @throws Refusal 404 payment_provider */
export async function showProvider(ctx: Context, { code }: { code: string }) {
  const provider = await getProvider(ctx, code);
  return { payment_provider: providerView(provider, ctx.config, ctx.organizationId) };
}
