import { z } from 'zod';
import { listFilter, textFilter } from '../../../platform/lists/filters.ts';
import { PageMeta, pageQuery } from '../../../platform/lists/pagination.ts';

export const INBOUND_STATUSES = ['pending', 'processing', 'succeeded', 'failed'] as const;

/** An event of a payment provider with the outcome of its handling. Rule: other-routes.md#records. */
const InboundEventBase = z.object({
  svc_id: z.uuid(),
  payment_provider_code: z.string(),
  payment_provider_type: z.string(),
  provider_event_id: z.string(),
  type: z.string(),
  status: z.enum(INBOUND_STATUSES),
  attempts: z.int(),
  error: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type InboundEventView = z.infer<typeof InboundEventBase>;

export const InboundEventEnvelope = z.object({
  /** With the complete event. */
  inbound_event: InboundEventBase.extend({ payload: z.record(z.string(), z.unknown()) }),
});
export const InboundEventList = z.object({ inbound_events: z.array(InboundEventBase), meta: PageMeta });

export const InboundEventsQuery = z.object({
  ...pageQuery,
  payment_provider_code: textFilter,
  statuses: listFilter,
  types: listFilter,
});
export type InboundEventsQuery = z.infer<typeof InboundEventsQuery>;
