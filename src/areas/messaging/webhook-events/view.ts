import { seconds } from '../../../platform/schema/view.ts';
import { isTooLarge, shortBody } from '../webhooks/request-body.ts';
import type { WebhookEventRow } from './queries.ts';
import type { WebhookEventView } from './schema.ts';

/** An event as the feed shows it; its payload is the body that endpoints get. */
export function webhookEventView(event: WebhookEventRow): WebhookEventView {
  const truncated = isTooLarge(event.payload);
  return {
    sequence: event.sequence,
    svc_id: event.id,
    webhook_type: event.webhook_type,
    object_type: event.object_type,
    svc_object_id: event.object_id,
    external_customer_id: event.external_customer_id,
    occurred_at: seconds(event.occurred_at),
    truncated,
    payload: JSON.parse(truncated ? shortBody(event.payload) : event.payload) as Record<string, unknown>,
  };
}
