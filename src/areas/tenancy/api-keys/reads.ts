import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { getApiKey, getCurrentApiKey, listApiKeys } from './queries.ts';
import type { ApiKeysQuery } from './schema.ts';
import { apiKeyView, currentApiKeyView } from './view.ts';

/** A page of the keys that are valid, newest first, without their values. */
export async function showApiKeys(ctx: Context, { query }: { query: ApiKeysQuery }) {
  const { rows, totalCount } = await listApiKeys(ctx, query, realNow());
  return { api_keys: rows.map(apiKeyView), meta: pageMeta(query, totalCount) };
}

/** @throws Refusal 404 api_key */
export async function showApiKey(ctx: Context, { svc_id }: { svc_id: string }) {
  return { api_key: apiKeyView(await getApiKey(ctx, svc_id, realNow())) };
}

/**
 * The key that sent the request, with its organization: what a caller may do, without the permission to read keys.
 * Rule: console-reads.md#current-key.
 *
 * @throws Refusal 404 api_key, of a caller who has no key
 */
export async function showCurrentApiKey(ctx: Context) {
  return { api_key: currentApiKeyView(await getCurrentApiKey(ctx, ctx.actor.apiKeyId)) };
}
