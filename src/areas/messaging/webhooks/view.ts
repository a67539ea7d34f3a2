import { seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import type { DeliveryRow, HmacKeyRow } from './queries.ts';
import type { DeliveryView } from './schema.ts';

/** A delivery as its log shows it. */
export const deliveryView = (delivery: DeliveryRow): DeliveryView => ({
  svc_id: delivery.id,
  svc_webhook_endpoint_id: delivery.webhook_endpoint_id,
  webhook_type: delivery.webhook_type,
  object_type: delivery.object_type,
  svc_object_id: delivery.object_id,
  endpoint: delivery.endpoint,
  status: delivery.status,
  retries: delivery.retries,
  http_status: delivery.http_status,
  payload: JSON.parse(delivery.payload) as Record<string, unknown>,
  response: delivery.response,
  last_retried_at: secondsOrNull(delivery.last_retried_at),
  created_at: seconds(delivery.created_at),
  updated_at: seconds(delivery.updated_at),
});

export const hmacKeyView = (key: HmacKeyRow) => ({
  hmac_key: key.hmac_key,
  former_expires_at: secondsOrNull(key.former_hmac_key_expires_at),
});

const LINE = /.{1,60}/g;

/** PEM text in Base64, wrapped every 60 characters, with a line break at the end (webhooks.md#signatures). */
export const wrappedPublicKey = (pem: string): string =>
  `${Buffer.from(pem).toString('base64').match(LINE)!.join('\n')}\n`;
