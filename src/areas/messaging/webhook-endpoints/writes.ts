import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { OrganizationId, WebhookEndpointId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import type { WebhookEndpointRow } from './queries.ts';

/** Why an endpoint is disabled, when its owner asked for it. */
export const BY_OWNER = 'manual';

/** Response of a delivery that was given up before any attempt. */
export const ENDPOINT_IS_DISABLED = 'the endpoint is disabled';

/** Until the transaction ends no other adds an endpoint to the organization. */
export const lockNumberOfEndpoints = ({ db, organizationId }: Scope) => db`
  select pg_advisory_xact_lock(hashtextextended('webhook_endpoints of ' || ${organizationId}::text, 0))`;

export const insertWebhookEndpoint = (db: Db, endpoint: WebhookEndpointRow, sealedSecret: string) => db`
  insert into webhook_endpoints (id, organization_id, webhook_url, name, signature_algo, event_types, secret, status,
    disabled_at, disabled_reason, created_at, updated_at)
  values (${endpoint.id}, ${endpoint.organization_id}, ${endpoint.webhook_url}, ${endpoint.name},
    ${endpoint.signature_algo}, ${endpoint.event_types}, ${sealedSecret}, ${endpoint.status}, ${endpoint.disabled_at},
    ${endpoint.disabled_reason}, ${endpoint.created_at}, ${endpoint.created_at})`;

/** Stores what a client may change. */
export const updateWebhookEndpointRow = (db: Db, endpoint: WebhookEndpointRow, now: Temporal.Instant) => db`
  update webhook_endpoints
  set webhook_url = ${endpoint.webhook_url}, name = ${endpoint.name}, signature_algo = ${endpoint.signature_algo},
    event_types = ${endpoint.event_types}, updated_at = ${now}
  where organization_id = ${endpoint.organization_id} and id = ${endpoint.id}`;

/** Resets the failures, so that deliveries are sent at once, also after a time of being disabled. */
export const clearFailures = ({ db, organizationId }: Scope, id: WebhookEndpointId) => db`
  update webhook_endpoints
  set status = 'enabled', disabled_at = null, disabled_reason = null, failures_since = null, consecutive_failures = 0,
    circuit_open_until = null
  where organization_id = ${organizationId} and id = ${id}`;

/**
 * Takes an endpoint out of service: no new events are stored for it, and what waits for it fails without another
 * attempt. `at` is real time. Unless its owner asked for it, the security log reports it, and a mail is owed, which the
 * sweeper of steps nudges. Rules: webhooks.md#endpoints, webhooks.md#delivery, logs.md#security-logs, mails.md.
 *
 * @returns false when it was disabled already
 */
export async function disableWebhookEndpoint(
  db: Db,
  {
    organizationId,
    id,
    reason,
    at,
  }: { organizationId: OrganizationId; id: WebhookEndpointId; reason: string; at: Temporal.Instant },
): Promise<boolean> {
  const [row] = await db<{ disabled: boolean }[]>`
    with endpoint as (
      update webhook_endpoints set status = 'disabled', disabled_at = ${at}, disabled_reason = ${reason}
      where organization_id = ${organizationId} and id = ${id} and status = 'enabled'
      returning id, webhook_url
    ), owed as (
      insert into after_steps (id, organization_id, job, payload, created_at, enqueued_at)
      select ${newId()}, ${organizationId}, 'mail-notice', jsonb_build_object('template', 'endpoint_disabled',
          'resource_id', endpoint.id, 'occasion', ${`disabled ${at}`}::text, 'at', ${at.toString()}::text),
        ${at}, ${at}
      from endpoint where ${reason !== BY_OWNER}
    ), logged as (
      insert into security_logs (id, organization_id, log_type, log_event, resources, device_info, logged_at,
        created_at)
      select ${newId()}, ${organizationId}, 'webhook_endpoint', 'webhook_endpoint.updated', jsonb_build_object(
          'svc_id', endpoint.id, 'webhook_url', endpoint.webhook_url,
          'status', jsonb_build_object('deleted', 'enabled', 'added', 'disabled'),
          'disabled_reason', jsonb_build_object('deleted', null, 'added', ${reason}::text)), '{}', ${at}, ${at}
      from endpoint where ${reason !== BY_OWNER}
    ), given_up as (
      update webhook_deliveries delivery
      set status = 'failed', next_attempt_at = null, response = coalesce(response, ${ENDPOINT_IS_DISABLED}),
        updated_at = ${at}
      from endpoint
      where delivery.organization_id = ${organizationId} and delivery.webhook_endpoint_id = endpoint.id
        and delivery.status in ('pending', 'retrying')
    )
    select exists (select from endpoint) as disabled`;
  return row!.disabled;
}

/** The former secret goes on signing beside the new one until `formerUntil`, in real time. */
export const replaceSecret = (
  { db, organizationId }: Scope,
  id: WebhookEndpointId,
  { sealedSecret, formerUntil }: { sealedSecret: string; formerUntil: Temporal.Instant },
) => db`
  update webhook_endpoints
  set former_secret = webhook_endpoints.secret, former_secret_expires_at = ${formerUntil}, secret = ${sealedSecret}
  where organization_id = ${organizationId} and id = ${id}`;

/** Removes an endpoint, its deliveries and the sums of them. */
export const deleteWebhookEndpointRow = ({ db, organizationId }: Scope, id: WebhookEndpointId) => db`
  with sums as (
    delete from webhook_hours where organization_id = ${organizationId} and webhook_endpoint_id = ${id}
  )
  delete from webhook_endpoints where organization_id = ${organizationId} and id = ${id}`;
