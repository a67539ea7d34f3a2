import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { ApiKeyId } from '../../../platform/ids.ts';
import type { SessionRow } from './admit.ts';

/** Sessions of an organization that are kept; a new one drops the oldest. */
const MOST_OF_ORGANIZATION = 100;

export const insertSession = (
  db: Db,
  session: SessionRow,
  { digest, userAgent, remoteAddress }: { digest: Buffer; userAgent: string | null; remoteAddress: string },
) => db`
  insert into console_sessions (id, token_digest, csrf_key, operator_digest, user_agent, remote_address, created_at,
    last_seen_at, expires_at)
  values (${session.id}, ${digest}, ${session.csrf_key}, ${session.operator_digest}, ${userAgent}, ${remoteAddress},
    ${session.created_at}, ${session.last_seen_at}, ${session.expires_at})`;

export const renewToken = (db: Db, id: string, { digest, now }: { digest: Buffer; now: Temporal.Instant }) => db`
  update console_sessions set token_digest = ${digest}, last_seen_at = ${now} where id = ${id}`;

/** Adds the organization to a session; one that it holds already gets the new key. */
export const putIdentity = (
  { db, organizationId }: Scope,
  { sessionId, keyId, now }: { sessionId: string; keyId: ApiKeyId; now: Temporal.Instant },
) => db`
  insert into console_identities (session_id, organization_id, kind, api_key_id, created_at)
  values (${sessionId}, ${organizationId}, 'key', ${keyId}, ${now})
  on conflict (session_id, organization_id) do update
  set kind = excluded.kind, api_key_id = excluded.api_key_id, member_id = null, created_at = excluded.created_at`;

/** Takes the organization out of all sessions but the newest; those that hold no other are dropped. */
export const dropOldest = ({ db, organizationId }: Scope) => db`
  with old as (
    select session_id from console_identities where organization_id = ${organizationId}
    order by created_at desc, session_id desc offset ${MOST_OF_ORGANIZATION}),
  taken_out as (
    delete from console_identities identity using old
    where identity.organization_id = ${organizationId} and identity.session_id = old.session_id)
  delete from console_sessions session using old
  where session.id = old.session_id and session.operator_digest is null and not exists (
    select from console_identities other
    where other.session_id = session.id and other.organization_id <> ${organizationId})`;

/** Takes the organization out of one session, which ends with its last one unless it is the operator's. */
export async function takeOut(
  { db, organizationId }: Scope,
  { sessionId, now }: { sessionId: string; now: Temporal.Instant },
): Promise<void> {
  await db`
    delete from console_identities where session_id = ${sessionId} and organization_id = ${organizationId}`;
  await db`
    update console_sessions set ended_at = ${now}
    where id = ${sessionId} and ended_at is null and operator_digest is null
      and not exists (select from console_identities identity where identity.session_id = ${sessionId})`;
}

export const endSession = (db: Db, id: string, now: Temporal.Instant) => db`
  update console_sessions set ended_at = ${now} where id = ${id} and ended_at is null`;
