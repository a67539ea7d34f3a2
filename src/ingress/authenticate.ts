import { hash } from 'node:crypto';
import type { Temporal } from 'temporal-polyfill';
import { realNowMs } from '../platform/clock/real-clock.ts';
import type { Db, Sql } from '../platform/db/connect.ts';
import type { ApiKeyId, OrganizationId } from '../platform/ids.ts';
import type { RateCategory } from '../platform/operation.ts';
import { answeredInTime } from './database-in-time.ts';
import { FairGate } from './fair-gate.ts';

/** The identity of a key: the organization comes from it alone. */
export interface Identity {
  apiKeyId: ApiKeyId;
  organizationId: OrganizationId;
  sandbox: boolean;
  permissions: Record<string, string[]>;
  /** Requests per second by category; null uses the service's setting. */
  limits: Record<RateCategory, number | null>;
  /** Milliseconds since 1970, or null for never. */
  expiresAtMs: number | null;
  /** The session of the console that speaks for the key. */
  sessionId?: string;
}

interface Entry {
  identity: Identity;
  freshUntilMs: number;
}

// api-keys.md#authentication: known keys at most 60 s and never past their end, unknown ones 5 s.
const KNOWN_MS = 60_000;
const UNKNOWN_MS = 5_000;
const LOOKUP_TIMEOUT_MS = 10_000;
/** How many keys a process caches; beyond it the oldest are dropped. About 1 KB each. */
const MOST_KNOWN = 50_000;
/** The same for invalid keys, cached separately: a flood of them displaces one another, never a valid key. */
const MOST_UNKNOWN = 10_000;
/**
 * How many keys of one address are looked up at the same time; others wait, and are refused once the address is over
 * its limit.
 */
const LOOKUPS_PER_ADDRESS = 4;
/** Longest wait of a client that opens many connections with keys that are not cached. */
const WAITING_PER_ADDRESS = 1000;

/** The caller that asks for the identity of a key that is not cached. */
export interface Asking {
  /** Asked for only when the key is looked up: behind proxies it is computed from headers. */
  address(): string;
  /** Called before each query. @throws Refusal 429, once the address is over its limit */
  refuseIfOver(): void;
  /** Counts an unknown key. @throws Refusal 401, or 429 once the address is over its limit */
  refuseUnknown(): Promise<never>;
}

/** Keys by the SHA-256 of their value, read from Postgres at most once a minute. */
export class KeyCache {
  readonly #sql: Sql;
  readonly #known = new Map<string, Entry>();
  readonly #unknown = new Map<string, number>();
  readonly #pending = new Map<string, Promise<Identity | null>>();
  readonly #lookups = new FairGate({ perKey: LOOKUPS_PER_ADDRESS, waitingPerKey: WAITING_PER_ADDRESS });
  #changes = 0;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /**
   * Identity of an Authorization header; null when there is no valid key. Returns without a promise if the key is
   * cached. Rule: api-keys.md#authentication.
   *
   * @throws Refusal 401 or 429, counted, when a look-up finds no such key
   */
  identify(header: string | undefined, asking: Asking): Identity | null | Promise<Identity | null> {
    const token = bearerToken(header);
    if (token === null) return null;
    const digest = hash('sha256', token, 'base64');
    const entry = this.#known.get(digest);
    const now = realNowMs();
    if (entry && entry.freshUntilMs > now) return valid(entry.identity, now);
    if ((this.#unknown.get(digest) ?? 0) > now) return null;
    return this.#lookUp(digest, asking);
  }

  /** Drops the cached keys of an organization, because they or its limits changed. */
  forget(organizationId: OrganizationId): void {
    this.#changes += 1;
    this.#unknown.clear();
    for (const [digest, { identity }] of this.#known)
      if (identity.organizationId === organizationId) this.#known.delete(digest);
  }

  forgetAll(): void {
    this.#changes += 1;
    this.#unknown.clear();
    this.#known.clear();
  }

  async #lookUp(digest: string, asking: Asking): Promise<Identity | null> {
    asking.refuseIfOver();
    const waited = AbortSignal.timeout(LOOKUP_TIMEOUT_MS);
    const identity = await this.#lookups.run(
      asking.address(),
      async () => {
        asking.refuseIfOver();
        const reading = this.#pending.get(digest) ?? this.#read(digest);
        this.#pending.set(digest, reading);
        // Counted before the next one has its turn, so that no look-up begins for an address that is about to exceed
        // its limit.
        return (await reading) ?? (await asking.refuseUnknown());
      },
      waited,
    );
    return valid(identity, realNowMs());
  }

  async #read(digest: string): Promise<Identity | null> {
    try {
      const changes = this.#changes;
      const identity = await answeredInTime(findIdentity(this.#sql, Buffer.from(digest, 'base64')), LOOKUP_TIMEOUT_MS);
      // What was read before a change was announced may be outdated, so it serves this request only.
      if (changes !== this.#changes) return identity;
      if (identity) keep(this.#known, digest, { identity, freshUntilMs: realNowMs() + KNOWN_MS }, MOST_KNOWN);
      else keep(this.#unknown, digest, realNowMs() + UNKNOWN_MS, MOST_UNKNOWN);
      return identity;
    } finally {
      this.#pending.delete(digest);
    }
  }
}

/** Puts an entry last, and drops the oldest one when there are too many. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.delete(key);
  if (map.size >= most) map.delete(map.keys().next().value!);
  map.set(key, value);
}

const valid = (identity: Identity | null, nowMs: number): Identity | null =>
  identity && (identity.expiresAtMs === null || identity.expiresAtMs > nowMs) ? identity : null;

export function bearerToken(header: string | undefined): string | null {
  if (header === undefined) return null;
  const [scheme, token] = header.split(/\s+/);
  return scheme?.toLowerCase() === 'bearer' && token ? token : null;
}

/** A key as it identifies a caller. */
export interface KeyRow {
  api_key_id: ApiKeyId;
  organization_id: OrganizationId;
  permissions: Record<string, string[]>;
  key_expires_at: Temporal.Instant | null;
  sandbox: boolean;
  limits: Identity['limits'];
}

/** Columns of a KeyRow, of `key` joined with its `organization`. */
export const keyColumns = (db: Db) => db`
  key.id as api_key_id, key.organization_id, key.permissions, key.expires_at as key_expires_at, organization.sandbox,
  jsonb_build_object('events', rate_limit_events, 'events_bulk', rate_limit_events_bulk, 'access', rate_limit_access,
    'current_usage', rate_limit_current_usage, 'budgets', rate_limit_budgets, 'default', rate_limit_default) as limits`;

export const identityOf = (row: KeyRow): Identity => ({
  apiKeyId: row.api_key_id,
  organizationId: row.organization_id,
  sandbox: row.sandbox,
  permissions: row.permissions,
  limits: row.limits,
  expiresAtMs: row.key_expires_at?.epochMilliseconds ?? null,
});

async function findIdentity(sql: Sql, digest: Buffer): Promise<Identity | null> {
  const [row] = await sql<KeyRow[]>`
    select ${keyColumns(sql)}
    from api_keys key join organizations organization on organization.id = key.organization_id
    where key.value_digest = ${digest}`;
  return row ? identityOf(row) : null;
}
