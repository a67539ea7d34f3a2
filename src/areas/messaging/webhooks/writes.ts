import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { OrganizationId, WebhookDeliveryId, WebhookEndpointId } from '../../../platform/ids.ts';
import { NAMED_ONLY_WEBHOOK_TYPES, SECOND_WEBHOOK_NAMES } from '../../../platform/records/write-records.ts';
import { hmacKeyPlace } from '../../../platform/secrets/secret-places.ts';
import { type Deployment, sealText } from '../../../platform/secrets/secrets.ts';
import type { WebhookEndpointRow } from '../webhook-endpoints/queries.ts';
import type { ReplayInput } from './schema.ts';

/** Back to pending, with the whole schedule of attempts before it. `now` is real time. */
export const restartDelivery = ({ db, organizationId }: Scope, id: WebhookDeliveryId, now: Temporal.Instant) => db`
  update webhook_deliveries
  set status = 'pending', attempts_left = null, next_attempt_at = ${now}, updated_at = ${now}
  where organization_id = ${organizationId} and id = ${id}`;

/** Sent to one endpoint on request; it cannot be subscribed to (webhooks.md#delivery). */
export const TEST_TYPE = 'webhook.test';

/** An event for one endpoint only, delivered with a single attempt. */
export interface DirectedEvent {
  id: string;
  delivery_id: WebhookDeliveryId;
  organization_id: OrganizationId;
  webhook_endpoint_id: WebhookEndpointId;
  webhook_url: string;
  webhook_type: string;
  object_type: string;
  payload: string;
  occurred_at: Temporal.Instant;
}

export const insertDirectedEvent = (db: Db, event: DirectedEvent, realNow: Temporal.Instant) => db`
  with event as (
    insert into webhook_events (id, organization_id, webhook_type, object_type, object_id, occurred_at, payload,
      created_at)
    values (${event.id}, ${event.organization_id}, ${event.webhook_type}, ${event.object_type},
      ${event.webhook_endpoint_id}, ${event.occurred_at}, ${event.payload}, ${realNow})
  )
  insert into webhook_deliveries (id, organization_id, webhook_endpoint_id, event_id, endpoint, attempts_left,
    next_attempt_at, created_at, updated_at)
  values (${event.delivery_id}, ${event.organization_id}, ${event.webhook_endpoint_id}, ${event.id},
    ${event.webhook_url}, 1, ${realNow}, ${realNow}, ${realNow})`;

/** Holds off other replays to this endpoint until the transaction ends, so that they see these deliveries as sent. */
export const lockReplays = (db: Db, endpointId: WebhookEndpointId) => db`
  select pg_advisory_xact_lock(hashtextextended('webhook replay to ' || ${endpointId}::text, 0))`;

export interface Replay {
  runId: string;
  endpoint: WebhookEndpointRow;
  chosen: ReplayInput;
  realNow: Temporal.Instant;
  /** Time between one delivery and the next. */
  apartMs: number;
  limit: number;
}

/** New deliveries of the chosen events, the first due at once; answers how many. Rule: event-feed.md "Replay". */
export async function insertReplay(
  db: Db,
  { runId, endpoint, chosen, realNow, apartMs, limit }: Replay,
): Promise<number> {
  const { organization_id: organizationId, id: endpointId, event_types: listensTo } = endpoint;
  const toThisOne = db`
    select from webhook_deliveries d
    where d.organization_id = ${organizationId} and d.event_id = event.id and d.webhook_endpoint_id = ${endpointId}`;
  const [row] = await db<{ count: number }[]>`
    with chosen as (
      select event.id, row_number() over (order by event.sequence) - 1 as before
      from webhook_events event
      join feed_heads head on head.organization_id = event.organization_id
      where event.organization_id = ${organizationId} and event.sequence >= head.first
        and event.webhook_type <> ${TEST_TYPE} and ${hears(db, listensTo)}
        ${chosen.event_types ? db`and ${hears(db, chosen.event_types)}` : db``}
        ${chosen.after_sequence == null ? db`` : db`and event.sequence > ${chosen.after_sequence}`}
        ${chosen.to_sequence == null ? db`` : db`and event.sequence <= ${chosen.to_sequence}`}
        ${chosen.from == null ? db`` : db`and event.occurred_at >= ${chosen.from}::timestamptz`}
        ${chosen.to == null ? db`` : db`and event.occurred_at <= ${chosen.to}::timestamptz`}
        ${chosen.statuses == null ? db`` : db`and exists (${toThisOne} and d.status = any (${chosen.statuses}))`}
        ${chosen.only_missing ? db`and not exists (${toThisOne} and d.status <> 'failed')` : db``}
      order by event.sequence
      limit ${limit}
    ), stored as (
      insert into webhook_deliveries (id, organization_id, webhook_endpoint_id, event_id, replay_id, endpoint,
        next_attempt_at, created_at, updated_at)
      select gen_random_uuid(), ${organizationId}, ${endpointId}, chosen.id, ${runId}, ${endpoint.webhook_url},
        ${realNow}::timestamptz + chosen.before * ${apartMs}::int * interval '1 millisecond', ${realNow}, ${realNow}
      from chosen
      returning true
    )
    select count(*) as count from stored`;
  return row!.count;
}

/** Whether a list of types, null for all of the contract, names the event's. */
const hears = (db: Db, types: string[] | null) =>
  types === null
    ? db`event.webhook_type <> all (${NAMED_ONLY_WEBHOOK_TYPES})`
    : db`(event.webhook_type = any (${types})
        or ${json(SECOND_WEBHOOK_NAMES)}::jsonb ->> event.webhook_type = any (${types}))`;

/** A new key in place of the present one, which signs until `formerUntil` instead of it, in real time. */
export async function replaceHmacKey(
  deployment: Deployment,
  organizationId: OrganizationId,
  hmacKey: string,
  formerUntil: Temporal.Instant,
): Promise<{ count: number }> {
  const sealed = await sealText(deployment, hmacKey, hmacKeyPlace(organizationId));
  return deployment.db`
    update organizations
    set former_hmac_key = organizations.hmac_key, former_hmac_key_expires_at = ${formerUntil}, hmac_key = ${sealed}
    where id = ${organizationId}`;
}
