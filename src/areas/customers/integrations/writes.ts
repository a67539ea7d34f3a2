import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope, WriteScope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import { type IntegrationId, newId, type OrganizationId } from '../../../platform/ids.ts';
import type { CallTrace } from '../../../platform/taxes/port.ts';
import type { IntegrationRow, MappingRow } from './queries.ts';
import { INTEGRATIONS, type IntegrationCreate } from './schema.ts';

interface Sealed {
  secrets: object;
  settings: object;
  secrets_last4: object;
  /** Undefined where the key stays. */
  account_fingerprint: string | null | undefined;
}

export const insertIntegration = (
  { db, organizationId, now }: WriteScope,
  given: IntegrationCreate,
  kept: Sealed & { id: string; live: boolean; status: string },
) => db`
  insert into integrations (id, organization_id, integration_type, category, code, name, secrets, secrets_last4,
    settings, account_fingerprint, live, status, created_at, updated_at)
  values (${kept.id}, ${organizationId}, ${given.type}, ${INTEGRATIONS[given.type]}, ${given.code}, ${given.name},
    ${json(kept.secrets)}, ${json(kept.secrets_last4)}, ${json(kept.settings)}, ${kept.account_fingerprint ?? null},
    ${kept.live}, ${kept.status}, ${now()}, ${now()})`;

/** Changes a connection: secrets that are absent stay. */
export const updateIntegration = (
  { db, organizationId, now }: WriteScope,
  stored: IntegrationRow,
  change: Sealed & { code: string; name: string; status: string },
) => db`
  update integrations set code = ${change.code}, name = ${change.name},
    secrets = secrets || ${json(change.secrets)}::jsonb,
    secrets_last4 = secrets_last4 || ${json(change.secrets_last4)}::jsonb,
    settings = ${json(change.settings)}::jsonb,
    account_fingerprint = ${
      change.account_fingerprint === undefined ? db`account_fingerprint` : change.account_fingerprint
    },
    status = ${change.status},
    last_error = case when ${change.status} = 'failing' then last_error end,
    unauthorized_calls = case when ${change.status} = 'connected' then 0 else unauthorized_calls end,
    updated_at = ${now()}
  where organization_id = ${organizationId} and id = ${stored.id}`;

/** Marks a connection deleted and ends the links of its customers; documents keep what they have. */
export async function deleteIntegrationRow({ db, organizationId, now }: WriteScope, id: IntegrationId): Promise<void> {
  await db`
    update integrations set deleted_at = ${now()}, updated_at = ${now()}
    where organization_id = ${organizationId} and id = ${id}`;
  await db`delete from integration_customers where organization_id = ${organizationId} and integration_id = ${id}`;
}

/** How long a deleted connection keeps its key, with which documents are still taken back. */
const SECRETS_KEPT_HOURS = 30 * 24;

/**
 * Empties the secrets of connections that were deleted 30 days ago, of all organizations; at most `limit`.
 * Rule: integrations.md#secrets-of-deleted-connections.
 */
export const emptyRetiredSecrets = (db: Db, now: Temporal.Instant, limit: number) => db<
  { id: IntegrationId; organization_id: OrganizationId }[]
>`
  update integrations set secrets = '{}', updated_at = ${now}
  where id = any (array(
    select id from integrations
    where deleted_at <= ${now.subtract({ hours: SECRETS_KEPT_HOURS })} and secrets <> '{}'
    order by deleted_at, id
    limit ${limit}))
  returning id, organization_id`;

/** Replaces all names that a connection has for what is sold. */
export async function replaceMappings(
  { db, organizationId, now }: WriteScope,
  id: IntegrationId,
  mappings: readonly MappingRow[],
): Promise<void> {
  await db`delete from integration_mappings where organization_id = ${organizationId} and integration_id = ${id}`;
  const rows = mappings.map((mapping) => ({ id: newId(), ...mapping }));
  await db`
    insert into integration_mappings (id, organization_id, integration_id, resource_type, resource_code, external_id,
      external_name, created_at)
    select mapping.id, ${organizationId}::uuid, ${id}::uuid, mapping.resource_type, mapping.resource_code,
      mapping.external_id, mapping.external_name, ${now()}
    from jsonb_to_recordset(${json(rows)}::jsonb) as mapping (id uuid, resource_type text, resource_code text,
      external_id text, external_name text)`;
}

/** Keeps the state that calls found; the row as it was before. */
export const setStatus = (
  { db, organizationId, now }: WriteScope,
  id: IntegrationId,
  state: Pick<IntegrationRow, 'status' | 'last_error' | 'unauthorized_calls'>,
) => db`
  update integrations set status = ${state.status}, last_error = ${state.last_error},
    unauthorized_calls = ${state.unauthorized_calls}, updated_at = ${now()}
  where organization_id = ${organizationId} and id = ${id}`;

/** Locks a connection, so that one call after the other counts what it found. */
export const lockIntegration = ({ db, organizationId }: Scope, id: IntegrationId) => db`
  select from integrations where organization_id = ${organizationId} and id = ${id} for no key update`;

/** A call as it is listed. */
export interface Call {
  operation: string;
  resourceId: string | null;
  durationMs: number;
  error: string | null;
  trace: CallTrace;
}

export const insertCall = ({ db, organizationId, now }: WriteScope, id: IntegrationId, call: Call) => db`
  insert into integration_calls (id, organization_id, integration_id, operation, resource_id, http_status, duration_ms,
    error, body, created_at)
  values (${newId()}, ${organizationId}, ${id}, ${call.operation}, ${call.resourceId}, ${call.trace.httpStatus},
    ${call.durationMs}, ${call.error}, ${call.trace.body}, ${now()})`;
