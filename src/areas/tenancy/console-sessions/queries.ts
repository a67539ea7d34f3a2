import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { isUuid, type OrganizationId } from '../../../platform/ids.ts';
import { limitOf, type Page } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { Permissions } from '../organizations/permissions.ts';
import { isLiving, type Lives } from './admit.ts';

/** A session that holds an organization, as that organization sees it. */
export interface ConsoleSessionRow {
  id: string;
  kind: 'key' | 'member';
  last_four: string;
  user_agent: string | null;
  remote_address: string;
  created_at: Temporal.Instant;
  last_seen_at: Temporal.Instant;
  expires_at: Temporal.Instant;
}

const columns = (db: Db) => db`
  session.id, identity.kind, key.last_four, session.user_agent, session.remote_address, session.created_at,
  session.last_seen_at, session.expires_at`;

const held = ({ db, organizationId }: Scope, lives: Lives) => db`
  from console_identities identity
  join console_sessions session on session.id = identity.session_id
  join api_keys key on key.organization_id = ${organizationId} and key.id = identity.api_key_id
  where identity.organization_id = ${organizationId} and ${isLiving(db, lives)}
    and (key.expires_at is null or key.expires_at > ${lives.now})`;

/** A page of the living sessions of an organization, newest first, and how many there are. */
export async function listConsoleSessions(
  scope: Scope,
  page: Page,
  lives: Lives,
): Promise<{ rows: ConsoleSessionRow[]; totalCount: number }> {
  const { db } = scope;
  const { limit, offset } = limitOf(page);
  const [rows, [count]] = await Promise.all([
    db<ConsoleSessionRow[]>`
      select ${columns(db)} ${held(scope, lives)}
      order by session.created_at desc, session.id desc
      limit ${limit} offset ${offset}`,
    db<{ total: number }[]>`select count(*) as total ${held(scope, lives)}`,
  ]);
  return { rows: [...rows], totalCount: count!.total };
}

/** @throws Refusal 404 console_session */
export async function getConsoleSession(scope: Scope, id: string, lives: Lives): Promise<ConsoleSessionRow> {
  const { db } = scope;
  const [row] = isUuid(id)
    ? await db<ConsoleSessionRow[]>`select ${columns(db)} ${held(scope, lives)} and session.id = ${id}`
    : [];
  if (!row) throw refuse.notFound('console_session');
  return row;
}

/** An organization that a session holds, with what its key may do now. */
export interface HeldOrganization {
  id: OrganizationId;
  name: string;
  slug: string;
  sandbox: boolean;
  has_test_clock: boolean;
  kind: 'key' | 'member';
  key_name: string | null;
  last_four: string;
  permissions: Permissions;
}

/** The organizations of a session whose keys are valid, by name. */
export const listHeldOrganizations = (db: Db, sessionId: string, now: Temporal.Instant) => db<HeldOrganization[]>`
  select organization.id, organization.name, organization.slug, organization.sandbox, identity.kind,
    key.name as key_name, key.last_four, key.permissions,
    exists (select from test_clocks clock where clock.organization_id = organization.id) as has_test_clock
  from console_identities identity
  join api_keys key on key.id = identity.api_key_id and key.organization_id = identity.organization_id
  join organizations organization on organization.id = identity.organization_id
  where identity.session_id = ${sessionId} and (key.expires_at is null or key.expires_at > ${now})
  order by organization.name, organization.id`;
