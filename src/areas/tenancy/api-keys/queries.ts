import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { ApiKeyId, OrganizationId } from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { limitOf, type Page } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { Permissions } from '../organizations/permissions.ts';

export interface ApiKeyRow {
  id: ApiKeyId;
  organization_id: OrganizationId;
  name: string | null;
  last_four: string;
  permissions: Permissions;
  expires_at: Temporal.Instant | null;
  last_used_at: Temporal.Instant | null;
  created_at: Temporal.Instant;
  updated_at: Temporal.Instant;
}

const columns = (db: Db) => db`
  id, organization_id, name, last_four, permissions, expires_at, last_used_at, created_at, updated_at`;

const valid = (db: Db, now: Temporal.Instant) => db`(expires_at is null or expires_at > ${now})`;

/** A key that is valid at `now`. @throws Refusal 404 api_key, of an expired or deleted one too */
export async function getApiKey(
  { db, organizationId }: Scope,
  id: ApiKeyId,
  now: Temporal.Instant,
): Promise<ApiKeyRow> {
  const [row] = isUuid(id)
    ? await db<ApiKeyRow[]>`
        select ${columns(db)} from api_keys
        where organization_id = ${organizationId} and id = ${id} and ${valid(db, now)}`
    : [];
  if (!row) throw refuse.notFound('api_key');
  return row;
}

export interface CurrentApiKeyRow {
  id: ApiKeyId;
  name: string | null;
  last_four: string;
  permissions: Permissions;
  expires_at: Temporal.Instant | null;
  organization_id: OrganizationId;
  organization_name: string;
  organization_slug: string;
  sandbox: boolean;
}

/** The key of a request, valid when it was identified, with its organization. @throws Refusal 404 api_key */
export async function getCurrentApiKey({ db, organizationId }: Scope, id: ApiKeyId | null): Promise<CurrentApiKeyRow> {
  const [row] = await db<CurrentApiKeyRow[]>`
    select key.id, key.name, key.last_four, key.permissions, key.expires_at, key.organization_id,
      organization.name as organization_name, organization.slug as organization_slug, organization.sandbox
    from api_keys key join organizations organization on organization.id = key.organization_id
    where key.organization_id = ${organizationId} and key.id = ${id}`;
  if (!row) throw refuse.notFound('api_key');
  return row;
}

/** A page of the keys valid at `now`, newest first, and how many there are. */
export async function listApiKeys(
  { db, organizationId }: Scope,
  page: Page,
  now: Temporal.Instant,
): Promise<{ rows: ApiKeyRow[]; totalCount: number }> {
  const { limit, offset } = limitOf(page);
  const [rows, [count]] = await Promise.all([
    db<ApiKeyRow[]>`
      select ${columns(db)} from api_keys where organization_id = ${organizationId} and ${valid(db, now)}
      order by created_at desc, id desc
      limit ${limit} offset ${offset}`,
    db<{ total: number }[]>`
      select count(*) as total from api_keys where organization_id = ${organizationId} and ${valid(db, now)}`,
  ]);
  return { rows: [...rows], totalCount: count!.total };
}

/** Locks the keys of an organization, so that they are changed one after the other. */
export const lockKeysOfOrganization = ({ db, organizationId }: Scope) => db`
  select from organizations where id = ${organizationId} for no key update`;

/** Permissions of a key, which may have expired during its request. */
export async function readPermissions({ db, organizationId }: Scope, id: ApiKeyId): Promise<Permissions> {
  const [row] = await db<{ permissions: Permissions }[]>`
    select permissions from api_keys where organization_id = ${organizationId} and id = ${id}`;
  return row?.permissions ?? {};
}

/** Whether a key other than this one never expires. */
export async function hasOtherLastingKey({ db, organizationId }: Scope, id: ApiKeyId): Promise<boolean> {
  const [row] = await db<{ found: boolean }[]>`
    select exists (
      select from api_keys where organization_id = ${organizationId} and id <> ${id} and expires_at is null
    ) as found`;
  return row!.found;
}

/** Whether a key other than this one never expires and holds every permission of this one. */
export async function hasOtherKeyHolding({ db, organizationId }: Scope, key: ApiKeyRow): Promise<boolean> {
  // A resource without modes is no permission, but `@>` would require its name.
  const held = Object.fromEntries(Object.entries(key.permissions).filter(([, modes]) => modes.length > 0));
  const [row] = await db<{ found: boolean }[]>`
    select exists (
      select from api_keys
      where organization_id = ${organizationId} and id <> ${key.id} and expires_at is null
        and permissions @> ${json(held)}
    ) as found`;
  return row!.found;
}
