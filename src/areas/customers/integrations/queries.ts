import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { firstIdAt, type IntegrationId } from '../../../platform/ids.ts';
import { limitOf, type Page } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { IntegrationCategory, IntegrationType, MappedType } from './schema.ts';

/** A connection to another system. */
export interface IntegrationRow {
  id: IntegrationId;
  integration_type: IntegrationType;
  category: IntegrationCategory;
  code: string;
  name: string;
  /** Sealed texts by name. */
  secrets: Record<string, string>;
  secrets_last4: Record<string, string>;
  settings: Record<string, unknown>;
  live: boolean;
  status: 'connected' | 'unverified' | 'failing';
  last_error: string | null;
  unauthorized_calls: number;
  customers_count: number;
  deleted_at: Temporal.Instant | null;
  created_at: Temporal.Instant;
}

const columns = (db: Db) => db`
  integration.id, integration.integration_type, integration.category, integration.code, integration.name,
  integration.secrets, integration.secrets_last4, integration.settings, integration.live, integration.status,
  integration.last_error, integration.unauthorized_calls, integration.deleted_at, integration.created_at,
  (select count(*) from integration_customers link where link.organization_id = integration.organization_id
    and link.integration_id = integration.id) as customers_count`;

export async function findIntegration(
  { db, organizationId }: Scope,
  code: string,
): Promise<IntegrationRow | undefined> {
  const [row] = await db<IntegrationRow[]>`
    select ${columns(db)} from integrations integration
    where integration.organization_id = ${organizationId} and integration.code = ${code}
      and integration.deleted_at is null`;
  return row;
}

/** @throws Refusal 404 integration */
export async function getIntegration(scope: Scope, code: string): Promise<IntegrationRow> {
  const row = await findIntegration(scope, code);
  if (!row) throw refuse.notFound('integration');
  return row;
}

/** The connection through which an organization sends its electronic documents; it has one at most. */
export async function findAccessPoint({ db, organizationId }: Scope): Promise<IntegrationRow | undefined> {
  const [row] = await db<IntegrationRow[]>`
    select ${columns(db)} from integrations integration
    where integration.organization_id = ${organizationId} and integration.category = 'e_invoicing'
      and integration.deleted_at is null`;
  return row;
}

/** How many deleted access points are looked at when a report comes. */
const MOST_DELETED = 20;

/**
 * The access points whose documents a report may be about, those of its address first, and of these the live one: a
 * deleted one is heard as long as its secret is kept, also by the secret of one that took its place.
 */
export const listAccessPoints = ({ db, organizationId }: Scope, code: string | null) => db<
  (IntegrationRow & { sandbox: boolean })[]
>`
  select ${columns(db)}, organization.sandbox from integrations integration
  join organizations organization on organization.id = integration.organization_id
  where integration.organization_id = ${organizationId} and integration.category = 'e_invoicing'
    and integration.secrets <> '{}'
  order by ${code === null ? db`` : db`integration.code <> ${code},`} integration.deleted_at desc nulls first, integration.id
  limit ${MOST_DELETED + 1}`;

/** A live connection to an account, but for one. */
export async function findConnectionOf(
  { db, organizationId }: Scope,
  accountFingerprint: string,
  exceptId: IntegrationId | null,
): Promise<{ code: string } | undefined> {
  const [row] = await db<{ code: string }[]>`
    select code from integrations
    where organization_id = ${organizationId} and account_fingerprint = ${accountFingerprint} and deleted_at is null
      and id is distinct from ${exceptId}`;
  return row;
}

/** A connection by its id, deleted ones too: what was recorded there is still taken back. */
export async function findIntegrationById(
  { db, organizationId }: Scope,
  id: IntegrationId,
): Promise<IntegrationRow | undefined> {
  const [row] = await db<IntegrationRow[]>`
    select ${columns(db)} from integrations integration
    where integration.organization_id = ${organizationId} and integration.id = ${id}`;
  return row;
}

/** A page of connections, oldest first, and how many there are. */
export async function listIntegrations(
  { db, organizationId }: Scope,
  types: readonly string[] | undefined,
  page: Page,
): Promise<{ rows: IntegrationRow[]; totalCount: number }> {
  const { limit, offset } = limitOf(page);
  const passing = db`integration.organization_id = ${organizationId} and integration.deleted_at is null
    ${types === undefined ? db`` : db`and integration.integration_type = any (${types})`}`;
  const [rows, [count]] = await Promise.all([
    db<IntegrationRow[]>`
      select ${columns(db)} from integrations integration where ${passing}
      order by integration.created_at, integration.id limit ${limit} offset ${offset}`,
    db<{ total: number }[]>`select count(*) as total from integrations integration where ${passing}`,
  ]);
  return { rows, totalCount: count!.total };
}

export interface MappingRow {
  resource_type: MappedType;
  /** Empty for the default. */
  resource_code: string;
  external_id: string;
  external_name: string | null;
}

/** The names that a connection has for what is sold, in the order in which they were given. */
export const listMappings = ({ db, organizationId }: Scope, id: IntegrationId) => db<MappingRow[]>`
  select resource_type, resource_code, external_id, external_name from integration_mappings
  where organization_id = ${organizationId} and integration_id = ${id}
  order by integration_mappings.id`;

export interface CallRow {
  operation: string;
  resource_id: string | null;
  http_status: number | null;
  duration_ms: number;
  error: string | null;
  body: string | null;
  created_at: Temporal.Instant;
}

/** A page of the calls of a connection since an instant of real time, the newest first, and how many there are. */
export async function listCalls(
  { db, organizationId }: Scope,
  id: IntegrationId,
  { since, page }: { since: Temporal.Instant; page: Page },
): Promise<{ rows: CallRow[]; totalCount: number }> {
  const { limit, offset } = limitOf(page);
  const passing = db`organization_id = ${organizationId} and integration_id = ${id} and id >= ${firstIdAt(since)}`;
  const [rows, [count]] = await Promise.all([
    db<CallRow[]>`
      select operation, resource_id, http_status, duration_ms, error, body, created_at from integration_calls
      where ${passing} order by id desc limit ${limit} offset ${offset}`,
    db<{ total: number }[]>`select count(*) as total from integration_calls where ${passing}`,
  ]);
  return { rows, totalCount: count!.total };
}
