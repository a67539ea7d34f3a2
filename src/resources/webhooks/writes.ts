import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../platform/db/connect.ts';

/** Back to pending, with the whole schedule of attempts before it. `now` is real time. */
export const restartDelivery = (db: Db, organizationId: string, id: string, now: Temporal.Instant) => db`
  update webhook_deliveries
  set status = 'pending', attempts_left = null, next_attempt_at = ${now}, updated_at = ${now}
  where organization_id = ${organizationId} and id = ${id}`;

/** An event for one endpoint only, delivered with a single attempt. */
export interface DirectedEvent {
  id: string;
  delivery_id: string;
  organization_id: string;
  webhook_endpoint_id: string;
  webhook_url: string;
  webhook_type: string;
  object_type: string;
  payload: string;
  occurred_at: Temporal.Instant;
}

export const insertDirectedEvent = (db: Db, event: DirectedEvent, realNow: Temporal.Instant) => db`
  with event as (
    insert into webhook_events (id, organization_id, webhook_type, object_type, object_id, occurred_at, payload, created_at)
    values (${event.id}, ${event.organization_id}, ${event.webhook_type}, ${event.object_type},
      ${event.webhook_endpoint_id}, ${event.occurred_at}, ${event.payload}, ${realNow})
  )
  insert into webhook_deliveries (id, organization_id, webhook_endpoint_id, event_id, endpoint, attempts_left,
    next_attempt_at, created_at, updated_at)
  values (${event.delivery_id}, ${event.organization_id}, ${event.webhook_endpoint_id}, ${event.id},
    ${event.webhook_url}, 1, ${realNow}, ${realNow}, ${realNow})`;
