import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { PROVIDERS } from '../../../platform/payments/providers.ts';
import { getProvider, listProviders } from './queries.ts';
import type { ProvidersQuery, ProviderType, ProviderTypes } from './schema.ts';
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

/** The table of types: what each needs, and what it can do. Rule: provider-connections.md#types. */
export async function listProviderTypes(): Promise<ProviderTypes> {
  const field = ({ name, isMandatory }: { name: string; isMandatory: boolean }) => ({ name, mandatory: isMandatory });
  return {
    payment_provider_types: PROVIDERS.map((row) => ({
      type: row.type as ProviderType,
      sandbox_only: row.isForSandboxesOnly,
      emulates: row.appearsAs ?? null,
      secrets: row.secrets.map((secret) => ({ ...field(secret), made: secret.make !== undefined })),
      settings: row.settings.map(field),
      capabilities: [...row.capabilities({ settings: {}, emulates: null })],
    })),
  };
}
