import { z } from 'zod';
import { listFilter, textFilter } from '../../../platform/lists/filters.ts';
import { countedPageQuery, PageMeta } from '../../../platform/lists/pagination.ts';
import { fromFilter, untilFilter } from '../../../platform/lists/time-filters.ts';
import { list } from '../../../platform/schema/bounded.ts';
import { boolean, integer, oneOf } from '../../../platform/schema/fields.ts';
import { instantField } from '../../../platform/schema/instant-field.ts';
import { eventTypes } from '../webhook-endpoints/schema.ts';

export const DELIVERY_STATUSES = ['pending', 'retrying', 'succeeded', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Filters of the delivery log of an endpoint (webhooks.md#delivery-log). */
export const DeliveryListQuery = z.object({
  ...countedPageQuery,
  statuses: listFilter,
  event_types: listFilter,
  http_statuses: listFilter,
  from_date: fromFilter,
  to_date: untilFilter,
  search_term: textFilter,
});
export type DeliveryListQuery = z.infer<typeof DeliveryListQuery>;

export const DeliveryView = z.object({
  svc_id: z.uuid(),
  svc_webhook_endpoint_id: z.uuid(),
  webhook_type: z.string(),
  object_type: z.string(),
  svc_object_id: z.string().nullable(),
  endpoint: z.string(),
  status: z.enum(DELIVERY_STATUSES),
  retries: z.int(),
  http_status: z.int().nullable(),
  payload: z.record(z.string(), z.unknown()),
  response: z.string().nullable(),
  last_retried_at: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type DeliveryView = z.infer<typeof DeliveryView>;

export const DeliveryEnvelope = z.object({ webhook: DeliveryView });
export const DeliveryList = z.object({ webhooks: z.array(DeliveryView), meta: PageMeta });

export const PublicKeyEnvelope = z.object({
  webhook: z.object({ public_key: z.string() }),
  public_keys: z.array(z.object({ kid: z.string(), public_key: z.string() })),
});
export const PublicKeyText = z.string();
export const HmacKeyEnvelope = z.object({
  webhook: z.object({ hmac_key: z.string(), former_expires_at: z.iso.datetime().nullable() }),
});

/** How many statuses a filter may name; there are four, and each may be named again. */
const STATUSES_MAX = 100;

/**
 * Input of `POST /webhook_endpoints/{id}/replay`: what is absent does not narrow. Both ends of a range belong to it.
 */
export const ReplayInput = z.object({
  from: instantField().nullish(),
  to: instantField().nullish(),
  after_sequence: integer({ min: 0 }).nullish(),
  to_sequence: integer({ min: 0 }).nullish(),
  statuses: list(oneOf(DELIVERY_STATUSES), { max: STATUSES_MAX }).nullish(),
  event_types: eventTypes,
  only_missing: boolean().nullish(),
});
export type ReplayInput = z.infer<typeof ReplayInput>;

export const ReplayEnvelope = z.object({ replay: z.object({ count: z.int(), svc_run_id: z.uuid() }) });
