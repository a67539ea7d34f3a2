import type { Temporal } from 'temporal-polyfill';
import type { Sql } from '../../../platform/db/connect.ts';
import type { OrganizationId, WebhookDeliveryId, WebhookEndpointId } from '../../../platform/ids.ts';

/** An endpoint by its tenant. */
export interface EndpointId {
  organization_id: OrganizationId;
  webhook_endpoint_id: WebhookEndpointId;
}

/**
 * Endpoints with a delivery whose attempt was due at `overdueSince`; those with an open circuit only once it may be
 * probed. The index is stepped through from endpoint to endpoint: the number of deliveries that wait does not matter.
 */
export const listWaitingEndpoints = (sql: Sql, overdueSince: Temporal.Instant, now: Temporal.Instant) => sql<
  EndpointId[]
>`
  with recursive waiting as (
    (select webhook_endpoint_id from webhook_deliveries where status in ('pending', 'retrying')
     order by webhook_endpoint_id limit 1)
    union all
    select (
      select d.webhook_endpoint_id from webhook_deliveries d
      where d.status in ('pending', 'retrying') and d.webhook_endpoint_id > waiting.webhook_endpoint_id
      order by d.webhook_endpoint_id limit 1)
    from waiting where waiting.webhook_endpoint_id is not null
  )
  select endpoint.organization_id, endpoint.id as webhook_endpoint_id
  from waiting
  join webhook_endpoints endpoint on endpoint.id = waiting.webhook_endpoint_id
  where (endpoint.circuit_open_until is null or endpoint.circuit_open_until <= ${now})
    and exists (
      select from webhook_deliveries d
      where d.webhook_endpoint_id = endpoint.id and d.status in ('pending', 'retrying')
        and d.next_attempt_at <= ${overdueSince})`;

export interface EndpointHealth {
  status: 'enabled' | 'disabled';
  consecutive_failures: number;
}

export async function readHealth(sql: Sql, endpoint: EndpointId): Promise<EndpointHealth | undefined> {
  const [row] = await sql<EndpointHealth[]>`
    select status, consecutive_failures from webhook_endpoints
    where organization_id = ${endpoint.organization_id} and id = ${endpoint.webhook_endpoint_id}`;
  return row;
}

/**
 * Deliveries of an endpoint that fell due after `since` and wait still: their jobs are under way. Counts up to `most`.
 */
export async function countUnderWay(
  sql: Sql,
  endpoint: EndpointId,
  { since, now, most }: { since: Temporal.Instant; now: Temporal.Instant; most: number },
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from (
      select from webhook_deliveries
      where organization_id = ${endpoint.organization_id} and webhook_endpoint_id = ${endpoint.webhook_endpoint_id}
        and status in ('pending', 'retrying') and next_attempt_at > ${since} and next_attempt_at <= ${now}
      limit ${most}) under_way`;
  return row!.count;
}

export interface OverdueDelivery {
  id: WebhookDeliveryId;
  status: 'pending' | 'retrying';
  retries: number;
}

/**
 * Takes the oldest deliveries of an endpoint whose attempt was due at `overdueSince` and has not been made; they count
 * as due at `now`, so that the next page has others.
 */
export async function takeOverdue(
  sql: Sql,
  endpoint: EndpointId,
  { overdueSince, now, limit }: { overdueSince: Temporal.Instant; now: Temporal.Instant; limit: number },
): Promise<OverdueDelivery[]> {
  const taken = await sql<OverdueDelivery[]>`
    update webhook_deliveries d set next_attempt_at = ${now}
    from (
      select id from webhook_deliveries
      where organization_id = ${endpoint.organization_id} and webhook_endpoint_id = ${endpoint.webhook_endpoint_id}
        and status in ('pending', 'retrying') and next_attempt_at <= ${overdueSince}
      order by next_attempt_at, id
      limit ${limit}
      for update skip locked
    ) overdue
    where d.organization_id = ${endpoint.organization_id} and d.id = overdue.id
    returning d.id, d.status, d.retries`;
  return taken.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Fails waiting deliveries of a disabled endpoint without an attempt, `limit` at most. */
export const failWaiting = (
  sql: Sql,
  endpoint: EndpointId,
  { response, now, limit }: { response: string; now: Temporal.Instant; limit: number },
) => sql`
  update webhook_deliveries
  set status = 'failed', next_attempt_at = null, response = coalesce(response, ${response}), updated_at = ${now}
  where organization_id = ${endpoint.organization_id} and id in (
    select id from webhook_deliveries
    where organization_id = ${endpoint.organization_id} and webhook_endpoint_id = ${endpoint.webhook_endpoint_id}
      and status in ('pending', 'retrying')
    order by next_attempt_at, id
    limit ${limit}
    for update skip locked)`;
