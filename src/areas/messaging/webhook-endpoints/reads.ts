import type { Context } from '../../../platform/context.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { getWebhookEndpoint, listWebhookEndpoints } from './queries.ts';
import type { WebhookEndpointListQuery } from './schema.ts';
import { webhookEndpointView } from './view.ts';

/** @throws Refusal 404 webhook_endpoint */
export async function showWebhookEndpoint(ctx: Context, { svc_id }: { svc_id: string }) {
  return { webhook_endpoint: webhookEndpointView(await getWebhookEndpoint(ctx, svc_id)) };
}

export async function showWebhookEndpoints(ctx: Context, { query }: { query: WebhookEndpointListQuery }) {
  const { rows, totalCount } = await listWebhookEndpoints(ctx, query);
  return { webhook_endpoints: rows.map(webhookEndpointView), meta: pageMeta(query, totalCount) };
}
