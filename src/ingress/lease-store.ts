import type { ClientRateLimitInfo, Store } from 'express-rate-limit';
import type { Redis } from 'ioredis';
import { realNowMs } from '../platform/clock/real-clock.ts';
import type { Log } from '../platform/log/log.ts';

/**
 * Grants up to `chunk` tokens of a window of one second on Redis' clock; only granted tokens are counted, so the sum
 * never exceeds the limit. Returns granted tokens, used tokens, milliseconds left, and the number of processes that
 * leased lately.
 */
const LEASE = `
local time = redis.call('time')
local second, nowMs = time[1], time[1] * 1000 + math.floor(time[2] / 1000)
local key = KEYS[1] .. ':' .. second
local limit, chunkMost = tonumber(ARGV[1]), tonumber(ARGV[2])
redis.call('zremrangebyscore', KEYS[2], '-inf', nowMs - 5000)
redis.call('zadd', KEYS[2], nowMs, ARGV[3])
local processes = redis.call('zcard', KEYS[2])
local used = tonumber(redis.call('get', key) or '0')
local chunk = math.max(1, math.min(chunkMost, math.floor((limit - used) / (4 * processes))))
local granted = math.max(0, math.min(chunk, limit - used))
if granted > 0 then
  redis.call('incrby', key, granted)
  redis.call('pexpire', key, 2000)
end
return { granted, used + granted, 1000 - math.floor(time[2] / 1000) }`;

interface LeaseRedis extends Redis {
  leaseTokens(
    key: string,
    processes: string,
    limit: number,
    chunk: number,
    processId: string,
  ): Promise<[granted: number, used: number, leftMs: number]>;
}

const CHUNK_MOST = 16;
// With a low limit, where clients watch the figures closely, each request leases its own token (rate-limits.md#leases
// (7)).
const EXACT_UP_TO = 50;
const WARN_EVERY_MS = 60_000;

interface Window {
  endsAtMs: number;
  tokens: number;
  used: number;
  /** Tokens from Redis or, while it is away, from this process alone. */
  taken: number;
  full: boolean;
  pending: Promise<void> | null;
}

/**
 * Store of the limiters of high rates: a process leases tokens in chunks instead of asking Redis for every request
 * (rate-limits.md#leases). Keys are `<organization>:<limit>`. If Redis is away or slower than 50 ms, the process counts
 * by itself with the whole limit.
 */
export class LeaseStore implements Store {
  readonly localKeys = false;
  readonly #redis: LeaseRedis;
  readonly #prefix: string;
  readonly #processId: string;
  readonly #log: Log;
  readonly #windows = new Map<string, Window>();
  #warnedAtMs = 0;

  constructor(options: { redis: Redis; prefix: string; processId: string; log: Log }) {
    // Sent by its hash, because Redis would have to hash the text for every lease.
    options.redis.defineCommand('leaseTokens', { numberOfKeys: 2, lua: LEASE });
    this.#redis = options.redis as LeaseRedis;
    this.#prefix = options.prefix;
    this.#processId = options.processId;
    this.#log = options.log;
  }

  async increment(key: string): Promise<ClientRateLimitInfo> {
    const limit = Number(key.slice(key.lastIndexOf(':') + 1));
    for (;;) {
      const window = this.#window(key);
      if (window.full) return { totalHits: limit + 1, resetTime: new Date(window.endsAtMs) };
      if (window.tokens > 0) {
        window.tokens -= 1;
        return { totalHits: Math.max(1, window.used - window.tokens), resetTime: new Date(window.endsAtMs) };
      }
      window.pending ??= this.#lease(key, limit, window);
      await window.pending;
    }
  }

  async decrement(): Promise<void> {}

  async resetKey(key: string): Promise<void> {
    this.#windows.delete(key);
  }

  #window(key: string): Window {
    const now = realNowMs();
    let window = this.#windows.get(key);
    if (!window || (window.endsAtMs <= now && window.pending === null)) {
      window = { endsAtMs: now + 1000, tokens: 0, used: 0, taken: 0, full: false, pending: null };
      this.#windows.set(key, window);
    }
    return window;
  }

  async #lease(key: string, limit: number, window: Window): Promise<void> {
    const organization = key.slice(0, key.lastIndexOf(':'));
    try {
      const [granted, used, leftMs] = await this.#redis.leaseTokens(
        `${this.#prefix}:${organization}`,
        `${this.#prefix}:processes`,
        limit,
        limit <= EXACT_UP_TO ? 1 : CHUNK_MOST,
        this.#processId,
      );
      window.tokens = granted;
      window.taken += granted;
      window.used = used;
      window.full = granted === 0;
      window.endsAtMs = realNowMs() + leftMs;
    } catch (error) {
      this.#warn(error);
      window.tokens = Math.max(0, limit - window.taken);
      window.taken = limit;
      window.used = limit;
      window.full = window.tokens === 0;
    } finally {
      window.pending = null;
    }
  }

  #warn(error: unknown): void {
    const now = realNowMs();
    if (now - this.#warnedAtMs < WARN_EVERY_MS) return;
    this.#warnedAtMs = now;
    this.#log.warn({ err: (error as Error).message }, 'rate limiter counts alone: redis is away or slow');
  }
}
