import { createHash } from 'node:crypto';
import type { Temporal } from 'temporal-polyfill';
import { realNowMs } from '../platform/clock/real-clock.ts';
import type { Sql } from '../platform/db/connect.ts';
import { answeredInTime } from './answered-in-time.ts';

/** What a key stands for: the organization comes from it alone. */
export interface Identity {
  apiKeyId: string;
  organizationId: string;
  sandbox: boolean;
  permissions: Record<string, string[]>;
  /** Requests per second by category; null = the setting's. */
  limits: Record<'events' | 'events_bulk' | 'current_usage' | 'access' | 'default', number | null>;
  /** Milliseconds since 1970, or null = never. */
  expiresAtMs: number | null;
}

interface Entry {
  identity: Identity | null;
  freshUntilMs: number;
}

// Platform A.1: known keys at most 60 s and never past their end, unknown ones 5 s.
const KNOWN_MS = 60_000;
const UNKNOWN_MS = 5_000;
const LOOKUP_TIMEOUT_MS = 10_000;
// Bounds the memory that made-up keys can take.
const MOST_ENTRIES = 50_000;

/** Keys by the SHA-256 of their value, read from Postgres once a minute at most. */
export class KeyCache {
  readonly #sql: Sql;
  readonly #entries = new Map<string, Entry>();
  readonly #pending = new Map<string, Promise<Identity | null>>();
  #changes = 0;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /**
   * Identity of an Authorization header; null when there is no valid key. Answers without a promise when the key is
   * cached. Rule: platform A.1.
   */
  identify(header: string | undefined): Identity | null | Promise<Identity | null> {
    const token = bearerToken(header);
    if (token === null) return null;
    const digest = createHash('sha256').update(token).digest('base64');
    const entry = this.#entries.get(digest);
    const now = realNowMs();
    if (entry && entry.freshUntilMs > now) return valid(entry.identity, now);
    const pending = this.#pending.get(digest) ?? this.#read(digest);
    this.#pending.set(digest, pending);
    return pending.then((identity) => valid(identity, realNowMs()));
  }

  /** Forgets what is known about an organization's keys: they or its limits changed. */
  forget(organizationId: string): void {
    this.#changes += 1;
    for (const [digest, entry] of this.#entries) {
      if (entry.identity === null || entry.identity.organizationId === organizationId) this.#entries.delete(digest);
    }
  }

  forgetAll(): void {
    this.#changes += 1;
    this.#entries.clear();
  }

  async #read(digest: string): Promise<Identity | null> {
    try {
      const changes = this.#changes;
      const identity = await answeredInTime(findIdentity(this.#sql, Buffer.from(digest, 'base64')), LOOKUP_TIMEOUT_MS);
      // What was read before a change was announced may be what was changed: it serves this request only.
      if (changes !== this.#changes) return identity;
      if (this.#entries.size >= MOST_ENTRIES) this.#entries.clear();
      this.#entries.set(digest, { identity, freshUntilMs: realNowMs() + (identity ? KNOWN_MS : UNKNOWN_MS) });
      return identity;
    } finally {
      this.#pending.delete(digest);
    }
  }
}

const valid = (identity: Identity | null, nowMs: number): Identity | null =>
  identity && (identity.expiresAtMs === null || identity.expiresAtMs > nowMs) ? identity : null;

function bearerToken(header: string | undefined): string | null {
  if (header === undefined) return null;
  const [scheme, token] = header.split(/\s+/);
  return scheme?.toLowerCase() === 'bearer' && token !== undefined && token !== '' ? token : null;
}

async function findIdentity(sql: Sql, digest: Buffer): Promise<Identity | null> {
  const [row] = await sql<
    {
      id: string;
      organization_id: string;
      permissions: Record<string, string[]>;
      expires_at: Temporal.Instant | null;
      sandbox: boolean;
      limits: Identity['limits'];
    }[]
  >`
    select key.id, key.organization_id, key.permissions, key.expires_at, organization.sandbox,
      jsonb_build_object('events', rate_limit_events, 'events_bulk', rate_limit_events_bulk, 'access', rate_limit_access,
        'current_usage', rate_limit_current_usage, 'default', rate_limit_default) as limits
    from api_keys key join organizations organization on organization.id = key.organization_id
    where key.value_digest = ${digest}`;
  if (!row) return null;
  return {
    apiKeyId: row.id,
    organizationId: row.organization_id,
    sandbox: row.sandbox,
    permissions: row.permissions,
    limits: row.limits,
    expiresAtMs: row.expires_at?.epochMilliseconds ?? null,
  };
}
