import type { ClientRateLimitInfo, Store } from 'express-rate-limit';
import type { Redis } from 'ioredis';
import { realNowMs } from '../platform/clock/real-clock.ts';
import type { Log } from '../platform/log/log.ts';
import { noteFallback } from '../platform/redis/fallbacks.ts';

/**
 * Grants up to `chunk` tokens of a window of one second on Redis' clock; only granted tokens are counted, so the sum
 * never exceeds the limit. Returns granted tokens, used tokens, milliseconds left, and the number of processes that
 * leased for this organization lately.
 *
 * KEYS window of the organization (hash), processes that leased for it ARGV limit, largest chunk, process
 */
const LEASE = `
local time = redis.call('time')
local second, nowMs = time[1], time[1] * 1000 + math.floor(time[2] / 1000)
local limit, chunkMost = tonumber(ARGV[1]), tonumber(ARGV[2])
redis.call('zremrangebyscore', KEYS[2], '-inf', nowMs - 5000)
redis.call('zadd', KEYS[2], nowMs, ARGV[3])
redis.call('pexpire', KEYS[2], 5000)
local processes = redis.call('zcard', KEYS[2])
local window = redis.call('hmget', KEYS[1], 'second', 'used')
local used = window[1] == second and tonumber(window[2]) or 0
local chunk = math.max(1, math.min(chunkMost, math.floor((limit - used) / (4 * processes))))
local granted = math.max(0, math.min(chunk, limit - used))
if granted > 0 then
  redis.call('hset', KEYS[1], 'second', second, 'used', used + granted)
  redis.call('pexpire', KEYS[1], 2000)
end
return { granted, used + granted, 1000 - math.floor(time[2] / 1000), processes }`;

interface LeaseRedis extends Redis {
  leaseTokens(
    key: string,
    processes: string,
    limit: number,
    chunk: number,
    processId: string,
  ): Promise<[granted: number, used: number, leftMs: number, processes: number]>;
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
  /** Processes that leased for the organization lately, this one included. */
  processes: number;
  /** Whether this process has counted by itself: it then leases no more in this window. */
  isAlone: boolean;
  full: boolean;
  pending: Promise<void> | null;
}

/**
 * Store of the limiters of high rates: a process leases tokens in chunks instead of asking Redis for every request
 * (rate-limits.md#leases). Keys are `<organization>:<limit>`. If Redis is away or slower than 50 ms, the process counts
 * by itself, so that all processes together let at most twice the limit through.
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
      if (window.isAlone) window.full = true;
      else window.pending ??= this.#lease(key, limit, window);
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
      const processes = window?.processes ?? 1;
      const counts = { tokens: 0, used: 0, taken: 0, processes };
      window = { endsAtMs: endOfSecond(now, window?.endsAtMs), ...counts, isAlone: false, full: false, pending: null };
      this.#windows.set(key, window);
    }
    return window;
  }

  async #lease(key: string, limit: number, window: Window): Promise<void> {
    const organization = key.slice(0, key.lastIndexOf(':'));
    try {
      const [granted, used, leftMs, processes] = await this.#redis.leaseTokens(
        `${this.#prefix}:{${organization}}`,
        `${this.#prefix}:{${organization}}:processes`,
        limit,
        limit <= EXACT_UP_TO ? 1 : CHUNK_MOST,
        this.#processId,
      );
      window.tokens = granted;
      window.taken += granted;
      window.used = used;
      window.processes = processes;
      window.full = granted === 0;
      window.endsAtMs = realNowMs() + leftMs;
    } catch (error) {
      this.#warn(error);
      const own = ownLimit(limit, window.processes);
      window.tokens = Math.max(0, own - window.taken);
      window.taken = Math.max(own, window.taken);
      window.used = limit;
      window.isAlone = true;
      window.full = window.tokens === 0;
    } finally {
      window.pending = null;
    }
  }

  #warn(error: unknown): void {
    noteFallback(this.#redis, 'limiter leases', error);
    const now = realNowMs();
    if (now - this.#warnedAtMs < WARN_EVERY_MS) return;
    this.#warnedAtMs = now;
    this.#log.warn({ err: (error as Error).message }, 'rate limiter counts alone: redis is away or slow');
  }
}

/**
 * What a process lets through that counts by itself: the whole limit where it is the only one, three quarters of it
 * where two share it, less where more do. So those that count by themselves, and one with a whole limit from Redis,
 * stay below twice the limit together, and two that both count by themselves do so also where their seconds differ:
 * with a whole limit each they let 200 of 100 through, and one more in the second in which their seconds met.
 *
 *   limit 100, processes 1 → 100, processes 2 → 75, processes 5 → 25 (four by themselves 100, the fifth 100 from Redis)
 */
const ownLimit = (limit: number, processes: number): number => {
  if (processes === 2) return Math.max(1, Math.floor((limit * 3) / 4));
  return Math.max(1, Math.floor(limit / Math.max(1, processes - 1)));
};

/** End of the present second of Redis' clock, as far as the end of a former one tells it. */
const endOfSecond = (nowMs: number, formerEndMs = 0): number =>
  nowMs + 1000 - ((((nowMs - formerEndMs) % 1000) + 1000) % 1000);
