import { Temporal } from 'temporal-polyfill';
import type { Tx } from '../../platform/db/connect.ts';
import type { Scope } from '../../platform/db/scope.ts';
import { json } from '../../platform/db/values.ts';
import type { OrganizationId } from '../../platform/ids.ts';

export interface StoredAnswer {
  fingerprint: Buffer;
  request_id: string;
  http_status: number | null;
  body: string | null;
  headers: Record<string, string> | null;
  /** Whether the body is only a digest from which the record can be read again. */
  is_digest: boolean;
  expires_at: Temporal.Instant;
}

// Short, because many twins must not hold connections while a slow first command runs (idempotency.md).
const TWIN_WAIT = "set local lock_timeout = '250ms'";
/** Sent as one statement. */
const START_OF_COMMAND = "set local lock_timeout = '5s'; savepoint command";

/**
 * First statement of a command: claims the key, or takes over an expired one. False if another command with it has
 * committed. Waits at most 250 ms for a running twin, then throws Postgres' lock_not_available (55P03). Sets the
 * savepoint `command` that a refusal rolls back to.
 */
export async function claimKey(
  tx: Tx,
  key: {
    organization_id: OrganizationId;
    scope_hash: Buffer;
    fingerprint: Buffer;
    request_id: string;
    now: Temporal.Instant;
    ttlHours: number;
  },
): Promise<boolean> {
  const expiresAt = key.now.add(Temporal.Duration.from({ hours: key.ttlHours }));
  const [, rows] = await Promise.all([
    tx.unsafe(TWIN_WAIT),
    tx`
      insert into idempotency_keys (organization_id, scope_hash, fingerprint, request_id, created_at, expires_at)
      values (${key.organization_id}, ${key.scope_hash}, ${key.fingerprint}, ${key.request_id}, ${key.now},
        ${expiresAt})
      on conflict (organization_id, scope_hash) do update
      set fingerprint = excluded.fingerprint, request_id = excluded.request_id, created_at = excluded.created_at,
        expires_at = excluded.expires_at, http_status = null, body = null, headers = null,
        is_digest = false
      where idempotency_keys.expires_at <= excluded.created_at
      returning 1`,
    tx.unsafe(START_OF_COMMAND),
  ]);
  return rows.length > 0;
}

interface KeyToClaim {
  scopeHash: Buffer;
  fingerprint: Buffer;
  request_id: string;
}

/**
 * First statement of gathered commands: claims their keys, each listed once. Returns the claimed ones in hexadecimal;
 * waits for twins as claimKey does.
 */
export async function claimKeys(
  { db: tx, organizationId }: Scope<Tx>,
  keys: readonly KeyToClaim[],
  { now, ttlHours }: { now: Temporal.Instant; ttlHours: number },
): Promise<Set<string>> {
  const expiresAt = now.add(Temporal.Duration.from({ hours: ttlHours }));
  const [, rows] = await Promise.all([
    tx.unsafe(TWIN_WAIT),
    tx<{ scope: string }[]>`
      insert into idempotency_keys (organization_id, scope_hash, fingerprint, request_id, created_at, expires_at)
      select ${organizationId}::uuid, decode(scope, 'hex'), decode(fingerprint, 'hex'), request_id, ${now}, ${expiresAt}
      from jsonb_to_recordset(${json(keys.map(jsonOf))}::jsonb) as row (scope text, fingerprint text, request_id text)
      order by scope
      on conflict (organization_id, scope_hash) do update
      set fingerprint = excluded.fingerprint, request_id = excluded.request_id, created_at = excluded.created_at,
        expires_at = excluded.expires_at, http_status = null, body = null, headers = null,
        is_digest = false
      where idempotency_keys.expires_at <= excluded.created_at
      returning encode(scope_hash, 'hex') as scope`,
    tx.unsafe(START_OF_COMMAND),
  ]);
  return new Set(rows.map(({ scope }) => scope));
}

const jsonOf = ({ scopeHash, fingerprint, request_id }: KeyToClaim) => ({
  scope: scopeHash.toString('hex'),
  fingerprint: fingerprint.toString('hex'),
  request_id,
});

/** The stored answer, in a separate statement because the insert's snapshot cannot see the twin's row. */
export async function readKey({ db, organizationId }: Scope, scopeHash: Buffer): Promise<StoredAnswer | undefined> {
  const [row] = await db<StoredAnswer[]>`
    select fingerprint, request_id, http_status, body, headers, is_digest, expires_at from idempotency_keys
    where organization_id = ${organizationId} and scope_hash = ${scopeHash}`;
  return row;
}

export const finishKey = (
  { db: tx, organizationId }: Scope<Tx>,
  scopeHash: Buffer,
  reply: { status: number; body: string; headers: Record<string, string>; isDigest: boolean },
) => tx`
  update idempotency_keys set http_status = ${reply.status}, body = ${reply.body}, headers = ${json(reply.headers)},
    is_digest = ${reply.isDigest}
  where organization_id = ${organizationId} and scope_hash = ${scopeHash}`;

export const freeKey = ({ db: tx, organizationId }: Scope<Tx>, scopeHash: Buffer) => tx`
  delete from idempotency_keys where organization_id = ${organizationId} and scope_hash = ${scopeHash}`;

/** The answers of gathered commands by key. */
export const finishKeys = (
  { db: tx, organizationId }: Scope<Tx>,
  answers: readonly {
    scopeHash: Buffer;
    reply: { status: number; body: string; headers: Record<string, string>; isDigest: boolean };
  }[],
) => tx`
  update idempotency_keys key set http_status = row.status, body = row.body, headers = row.headers,
    is_digest = row.is_digest
  from jsonb_to_recordset(${json(answers.map(answerJson))}::jsonb)
    as row (scope text, status integer, body text, headers jsonb, is_digest boolean)
  where key.organization_id = ${organizationId} and key.scope_hash = decode(row.scope, 'hex')`;

const answerJson = ({ scopeHash, reply: { isDigest, ...reply } }: Parameters<typeof finishKeys>[1][number]) => ({
  ...reply,
  scope: scopeHash.toString('hex'),
  is_digest: isDigest,
});

export const freeKeys = ({ db: tx, organizationId }: Scope<Tx>, scopeHashes: readonly Buffer[]) => tx`
  delete from idempotency_keys
  where organization_id = ${organizationId}
    and scope_hash = any (array(
      select decode(hash, 'hex') from unnest(${scopeHashes.map((hash) => hash.toString('hex'))}::text[]) hash))`;
