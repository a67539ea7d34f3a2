import type { EventId, ExternalSubscriptionId } from '../../../platform/ids.ts';
import { textJson } from './property-json.ts';

/** The shown fields of an event; times are ISO texts with at least milliseconds, properties are JSON text. */
export interface ShownEvent {
  id: EventId;
  transaction_id: string;
  external_subscription_id: ExternalSubscriptionId;
  code: string;
  timestamp: string;
  properties: string;
  precise_total_amount_cents: string | null;
  created_at: string;
}

/**
 * JSON text of an event as the API shows it: timestamp in milliseconds, creation in seconds, both cut. Text, because
 * the busiest route serialises its answer once; customer and subscription are resolved later. Rule: events.md#answer.
 */
export const eventText = (event: ShownEvent): string =>
  `{"svc_id":"${event.id}","transaction_id":${textJson(event.transaction_id)},"svc_customer_id":null,` +
  `"code":${textJson(event.code)},"timestamp":"${event.timestamp.slice(0, 23)}Z",` +
  `"precise_total_amount_cents":${amountJson(event.precise_total_amount_cents)},"properties":${event.properties},` +
  `"svc_subscription_id":null,"external_subscription_id":${textJson(event.external_subscription_id)},` +
  `"created_at":"${event.created_at.slice(0, 19)}Z"}`;

/** An amount as decimal text with at least one fractional digit (json.md). */
export const amountJson = (amount: string | null): string =>
  amount === null ? 'null' : amount.includes('.') ? `"${amount}"` : `"${amount}.0"`;
