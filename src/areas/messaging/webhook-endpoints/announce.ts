import type { Context } from '../../../platform/context.ts';
import { securityDiff } from '../../../platform/records/security-log.ts';
import type { WebhookEndpointRow } from './queries.ts';
import { webhookEndpointView } from './view.ts';

/**
 * A line of the security log about an endpoint: the whole of it, or what changed. A rotated secret is an update that
 * changes nothing that is shown. Rule: webhooks.md#endpoints, logs.md#security-logs.
 */
export function recordEndpoint(
  ctx: Context,
  action: 'created' | 'updated' | 'deleted',
  endpoint: WebhookEndpointRow,
  before?: WebhookEndpointRow,
): void {
  const shown = webhookEndpointView(endpoint);
  const { svc_id, webhook_url } = shown;
  const resources = before ? { svc_id, webhook_url, ...securityDiff(webhookEndpointView(before), shown) } : shown;
  ctx.record({ security: { event: `webhook_endpoint.${action}`, resources } });
}
