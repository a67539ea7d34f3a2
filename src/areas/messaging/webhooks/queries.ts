import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { OrganizationId, WebhookDeliveryId, WebhookEndpointId } from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { boundedPage } from '../../../platform/lists/bounded-page.ts';
import { countMatching } from '../../../platform/lists/count.ts';
import { type Counted, limitOf, type Page } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import { hmacKeyPlace } from '../../../platform/secrets/secret-places.ts';
import { type Deployment, openText } from '../../../platform/secrets/secrets.ts';
import type { HttpStatusFilter } from './http-statuses.ts';
import type { DeliveryStatus } from './schema.ts';

/** One event on its way to one endpoint; times are real. */
export interface DeliveryRow {
  id: WebhookDeliveryId;
  webhook_endpoint_id: WebhookEndpointId;
  webhook_type: string;
  object_type: string;
  object_id: string | null;
  /** URL last used. */
  endpoint: string;
  status: DeliveryStatus;
  /** Failed attempts. */
  retries: number;
  http_status: number | null;
  /** Body of the request, as text. */
  payload: string;
  response: string | null;
  last_retried_at: Temporal.Instant | null;
  created_at: Temporal.Instant;
  updated_at: Temporal.Instant;
}

const columns = (db: Db) => db`
  d.id, d.webhook_endpoint_id, e.webhook_type, e.object_type, e.object_id, d.endpoint, d.status, d.retries,
  d.http_status, e.payload, d.response, d.last_retried_at, d.created_at, d.updated_at`;

/** @throws Refusal 404 webhook */
export async function getDelivery({ db, organizationId }: Scope, id: WebhookDeliveryId): Promise<DeliveryRow> {
  const [row] = isUuid(id)
    ? await db<DeliveryRow[]>`
        select ${columns(db)} from webhook_deliveries d join webhook_events e on e.id = d.event_id
        where d.organization_id = ${organizationId} and d.id = ${id}`
    : [];
  if (!row) throw refuse.notFound('webhook');
  return row;
}

/** As getDelivery; the row stays locked until the transaction ends. */
export async function lockDelivery({ db, organizationId }: Scope, id: WebhookDeliveryId): Promise<DeliveryRow> {
  const [row] = isUuid(id)
    ? await db<DeliveryRow[]>`
        select ${columns(db)} from webhook_deliveries d join webhook_events e on e.id = d.event_id
        where d.organization_id = ${organizationId} and d.id = ${id}
        for update of d`
    : [];
  if (!row) throw refuse.notFound('webhook');
  return row;
}

export interface DeliveryFilters {
  statuses: string[] | undefined;
  event_types: string[] | undefined;
  http_statuses: HttpStatusFilter | undefined;
  from_date: Temporal.Instant | undefined;
  /** Exclusive. */
  to_date: Temporal.Instant | undefined;
  /** Id of the delivery or of its object. */
  search_term: string | undefined;
}

/**
 * Deliveries to one endpoint, the last touched first (webhooks.md#delivery-log).
 *
 * @throws Refusal 422 page: value_is_out_of_range, too deep in a list that goes on there
 */
export async function listDeliveries(
  { db, organizationId }: Scope,
  endpointId: WebhookEndpointId,
  { filters, page }: { filters: DeliveryFilters; page: Page },
): Promise<{ rows: readonly DeliveryRow[]; total: Counted }> {
  const { limit, offset } = limitOf(page);
  // Without a condition on events the page is found before they are read: otherwise, where Postgres expects few
  // deliveries, it reads the event of each to sort them.
  const isOfEvents = filters.event_types !== undefined || filters.search_term !== undefined;
  const ofEvents = db`join webhook_events e on e.id = d.event_id`;
  const chosen = db`
    webhook_deliveries d ${isOfEvents ? ofEvents : db``}
    where d.organization_id = ${organizationId} and d.webhook_endpoint_id = ${endpointId} ${conditions(db, filters)}`;
  const order = db`order by d.updated_at desc, d.created_at desc, d.id desc`;
  return boundedPage(page, {
    rows: () => db<DeliveryRow[]>`
      select ${columns(db)}
      from (select d.* from ${chosen} ${order} limit ${limit} offset ${offset}) d ${ofEvents}
      ${order}`,
    count: () => countMatching(db, chosen),
  });
}

function conditions(db: Db, filters: DeliveryFilters) {
  const { statuses, event_types, http_statuses, from_date, to_date, search_term } = filters;
  const id = search_term?.trim();
  return db`
    ${statuses ? db`and d.status = any (${statuses})` : db``}
    ${event_types ? db`and e.webhook_type = any (${event_types})` : db``}
    ${from_date ? db`and d.updated_at >= ${from_date}` : db``}
    ${to_date ? db`and d.updated_at < ${to_date}` : db``}
    ${id === undefined ? db`` : isUuid(id) ? db`and (d.id = ${id} or e.object_id = ${id})` : db`and false`}
    ${http_statuses ? httpCondition(db, http_statuses) : db``}`;
}

const httpCondition = (db: Db, { ranges, timeout }: HttpStatusFilter) => db`
  and (
    exists (
      select from unnest(${ranges.map((range) => range.from)}::int[], ${ranges.map((range) => range.to)}::int[])
        as range (least, most)
      where d.http_status between range.least and range.most)
    ${timeout ? db`or d.http_status is null and d.status in ('retrying', 'failed')` : db``}
  )`;

export interface HmacKeyRow {
  hmac_key: string;
  /** Until when the former key signs in place of it; null without a rotation. */
  former_hmac_key_expires_at: Temporal.Instant | null;
}

/** Secret of the organization's `hmac` signatures. */
export async function getHmacKey(deployment: Deployment, organizationId: OrganizationId): Promise<HmacKeyRow> {
  const [row] = await deployment.db<HmacKeyRow[]>`
    select hmac_key, former_hmac_key_expires_at from organizations where id = ${organizationId}`;
  return { ...row!, hmac_key: await openText(deployment, row!.hmac_key, hmacKeyPlace(organizationId)) };
}
