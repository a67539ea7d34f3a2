import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { EventId, ExternalCustomerId, WebhookDeliveryId, WebhookEndpointId } from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { DeliveryStatus } from '../webhooks/schema.ts';

export interface WebhookEventRow {
  id: string;
  sequence: number;
  webhook_type: string;
  object_type: string;
  object_id: string | null;
  external_customer_id: ExternalCustomerId | null;
  occurred_at: Temporal.Instant;
  /** Body of its deliveries, as text. */
  payload: string;
}

export interface FeedFilters {
  webhook_types: string[] | undefined;
  object_types: string[] | undefined;
  svc_object_id: string | undefined;
  external_customer_id: ExternalCustomerId | undefined;
}

/** Ends of the feed: sequences of its first and last event; `last` is `first` − 1 while it is empty. */
export async function readFeedEnds({ db, organizationId }: Scope): Promise<{ first: number; last: number }> {
  const [row] = await db<{ first: number; last: number }[]>`
    select first, last from feed_heads where organization_id = ${organizationId}`;
  return row ?? { first: 1, last: 0 };
}

const columns = (db: Db) => db`
  event.id, event.sequence, event.webhook_type, event.object_type, event.object_id,
  customer.external_id as external_customer_id, event.occurred_at, event.payload`;

const tables = (db: Db) => db`
  webhook_events event
  left join customers customer
    on customer.organization_id = event.organization_id and customer.id = event.customer_id`;

/** Events with `after` < sequence ≤ `to` that pass the filters, in order; at most `limit`. */
export const listFeed = (
  { db, organizationId }: Scope,
  { after, to, limit }: { after: number; to: number; limit: number },
  filters: FeedFilters,
) => db<WebhookEventRow[]>`
  select ${columns(db)} from ${tables(db)}
  where event.organization_id = ${organizationId} and event.sequence > ${after} and event.sequence <= ${to}
    ${conditions(db, filters)}
  order by event.sequence
  limit ${limit}`;

function conditions(db: Db, { webhook_types, object_types, svc_object_id, external_customer_id }: FeedFilters) {
  return db`
    ${webhook_types ? db`and event.webhook_type = any (${webhook_types})` : db``}
    ${object_types ? db`and event.object_type = any (${object_types})` : db``}
    ${external_customer_id === undefined ? db`` : db`and customer.external_id = ${external_customer_id}`}
    ${svc_object_id === undefined ? db`` : isUuid(svc_object_id) ? db`and event.object_id = ${svc_object_id}` : db`and false`}`;
}

/** @throws Refusal 404 webhook_event, also for one that has no number yet or has left the feed */
export async function getWebhookEvent({ db, organizationId }: Scope, id: string): Promise<WebhookEventRow> {
  const [row] = isUuid(id)
    ? await db<WebhookEventRow[]>`
        select ${columns(db)} from ${tables(db)}
        where event.organization_id = ${organizationId} and event.id = ${id}
          and event.sequence >= (select first from feed_heads where organization_id = ${organizationId})`
    : [];
  if (!row) throw refuse.notFound('webhook_event');
  return row;
}

export interface DeliveryOfEventRow {
  id: WebhookDeliveryId;
  webhook_endpoint_id: WebhookEndpointId;
  status: DeliveryStatus;
  retries: number;
  http_status: number | null;
}

/** Deliveries of one event to all endpoints, the first made first. */
export const listDeliveriesOfEvent = ({ db, organizationId }: Scope, eventId: EventId) => db<DeliveryOfEventRow[]>`
  select id, webhook_endpoint_id, status, retries, http_status from webhook_deliveries
  where organization_id = ${organizationId} and event_id = ${eventId}
  order by created_at, id`;
