import { seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import type { WebhookEndpointRow } from './queries.ts';
import type { WebhookEndpointView } from './schema.ts';

/** An endpoint as the API shows it; its secret is shown once, by the command that made it. */
export const webhookEndpointView = (endpoint: WebhookEndpointRow): WebhookEndpointView => ({
  svc_id: endpoint.id,
  svc_organization_id: endpoint.organization_id,
  webhook_url: endpoint.webhook_url,
  signature_algo: endpoint.signature_algo,
  name: endpoint.name,
  event_types: endpoint.event_types,
  status: endpoint.status,
  disabled_at: secondsOrNull(endpoint.disabled_at),
  disabled_reason: endpoint.disabled_reason,
  created_at: seconds(endpoint.created_at),
});
