import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { getApiKey, listApiKeys } from './queries.ts';
import type { ApiKeysQuery } from './schema.ts';
import { apiKeyView } from './view.ts';

/** A page of the keys that are valid, newest first, without their values. */
export async function showApiKeys(ctx: Context, { query }: { query: ApiKeysQuery }) {
  const { rows, totalCount } = await listApiKeys(ctx, query, realNow());
  return { api_keys: rows.map(apiKeyView), meta: pageMeta(query, totalCount) };
}

/** @throws Refusal 404 api_key */
export async function showApiKey(ctx: Context, { svc_id }: { svc_id: string }) {
  return { api_key: apiKeyView(await getApiKey(ctx, svc_id, realNow())) };
}
