import { z } from 'zod';
import { listFilter, textFilter } from '../../../platform/lists/filters.ts';
import { integer } from '../../../platform/schema/fields.ts';
import { DELIVERY_STATUSES } from '../webhooks/schema.ts';

const LIMIT_MAX = 1000;
const WAIT_MAX_SECONDS = 20;

/** Query of the feed (event-feed.md). Without `after` it is read from its start. */
export const FeedQuery = z.object({
  after: integer({ min: 0 }).optional(),
  limit: integer({ min: 1, max: LIMIT_MAX }).default(100),
  webhook_types: listFilter,
  object_types: listFilter,
  svc_object_id: textFilter,
  external_customer_id: textFilter,
  wait: integer({ min: 0, max: WAIT_MAX_SECONDS }).default(0),
});
export type FeedQuery = z.infer<typeof FeedQuery>;

export const WebhookEventView = z.object({
  sequence: z.int(),
  svc_id: z.uuid(),
  webhook_type: z.string(),
  object_type: z.string(),
  svc_object_id: z.string().nullable(),
  external_customer_id: z.string().nullable(),
  occurred_at: z.iso.datetime(),
  truncated: z.boolean(),
  payload: z.record(z.string(), z.unknown()),
});
export type WebhookEventView = z.infer<typeof WebhookEventView>;

export const FeedMeta = z.object({
  after: z.int(),
  next_after: z.int(),
  latest: z.int(),
  oldest: z.int(),
  has_more: z.boolean(),
});
export type FeedMeta = z.infer<typeof FeedMeta>;

export const Feed = z.object({ webhook_events: z.array(WebhookEventView), meta: FeedMeta });

const DeliveryOfEvent = z.object({
  svc_id: z.uuid(),
  svc_webhook_endpoint_id: z.uuid(),
  status: z.enum(DELIVERY_STATUSES),
  retries: z.int(),
  http_status: z.int().nullable(),
});
export const WebhookEventEnvelope = z.object({
  webhook_event: WebhookEventView.extend({ deliveries: z.array(DeliveryOfEvent) }),
});
