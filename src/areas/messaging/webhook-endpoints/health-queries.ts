import type { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import type { WebhookEndpointId } from '../../../platform/ids.ts';

export interface HealthHour {
  hour: Temporal.Instant;
  succeeded: number;
  failed: number;
  /** Attempts by class of how long they took. */
  latency: number[];
}

/** Hours of an endpoint in which something ended or was tried, the first one first. */
export const listHealthHours = (
  { db, organizationId }: Scope,
  endpointId: WebhookEndpointId,
  from: Temporal.Instant,
) => db<HealthHour[]>`
  with hours as (
    select hour, succeeded, failed, latency from webhook_hours
    where organization_id = ${organizationId} and webhook_endpoint_id = ${endpointId} and hour >= ${from}
  )
  select hour, sum(succeeded)::integer as succeeded, sum(failed)::integer as failed, (
    select array_agg(attempts order by class) from (
      select class, sum(attempts)::integer as attempts
      from hours same cross join unnest(same.latency) with ordinality as of_class (attempts, class)
      where same.hour = hours.hour group by class
    ) by_class
  ) as latency
  from hours group by hour order by hour`;

/** Deliveries that wait for an attempt, counted up to `limit`. */
export async function countPending(
  { db, organizationId }: Scope,
  endpointId: WebhookEndpointId,
  limit: number,
): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*) as count from (
      select from webhook_deliveries
      where organization_id = ${organizationId} and webhook_endpoint_id = ${endpointId}
        and status in ('pending', 'retrying')
      limit ${limit}) waiting`;
  return row!.count;
}
