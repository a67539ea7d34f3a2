import type { ClientRateLimitInfo, Store } from 'express-rate-limit';
import type { Redis } from 'ioredis';
import { RedisStore } from 'rate-limit-redis';
import { realNowMs } from '../platform/clock/real-clock.ts';
import type { Log } from '../platform/log/log.ts';
import { noteFallback } from '../platform/redis/fallbacks.ts';
import { mastersOf } from '../platform/redis/nodes.ts';
import type { LoopWatch } from './loop-watch.ts';

const WARN_EVERY_MS = 60_000;
// The counter of a window is kept a little longer than the window (rate-limits.md#counting).
const KEPT_AFTER_MS = 1000;

// How often the offset is measured; of a few answers at the start the quickest is the most accurate.
const ASK_EVERY_MS = 30_000;
const ASKED_AT_START = 5;

/** Redis' clock as estimated by this process: its own clock plus an offset that is measured regularly. */
export class RedisClock {
  #offsetMs = 0;
  readonly #redis: Redis;
  readonly #timer: NodeJS.Timeout;

  constructor(redis: Redis) {
    this.#redis = redis;
    redis.on('ready', () => void this.#ask());
    this.#timer = setInterval(() => void this.#ask(), ASK_EVERY_MS);
    this.#timer.unref();
  }

  async #ask(): Promise<void> {
    let quickestMs = Number.POSITIVE_INFINITY;
    for (let asked = 0; asked < ASKED_AT_START; asked += 1) {
      const sentMs = realNowMs();
      const time = await this.#redis.time().catch(() => undefined); // the former offset is still good enough
      if (!time) return;
      const tripMs = realNowMs() - sentMs;
      if (tripMs >= quickestMs) continue;
      quickestMs = tripMs;
      this.#offsetMs = Number(time[0]) * 1000 + Number(time[1]) / 1000 - (sentMs + tripMs / 2);
    }
  }

  nowMs = (): number => realNowMs() + this.#offsetMs;

  close(): void {
    clearInterval(this.#timer);
  }
}

interface WindowOptions {
  redis: Redis;
  prefix: string;
  clock: Pick<RedisClock, 'nowMs'>;
  /** Distinguishes a slow Redis from a slow process, both of which appear as a time-out. */
  loop: Pick<LoopWatch, 'wasBusy'>;
  log: Log;
  /** Length of a window; without it, one second. */
  seconds?: number;
}

/** A loop that was blocked this recently explains a time-out of the limiter's connection. */
const BUSY_WITHIN_MS = 250;

/**
 * rate-limit-redis behind the fixed window of rate-limits.md#counting: its number since the epoch is part of the key.
 * It never throws (by itself the library omits the headers and prints a line per request) and builds the inner store
 * only after Redis has answered once, because a failed script load is cached for ever (rate-limits.md#leases (9)).
 *
 * If Redis is away or slow the request passes (rate-limits.md#counting). If this process was too busy to read the
 * answer, it counts by itself; otherwise a caller whose requests block the loop would switch the limits off.
 */
export class WindowStore implements Store {
  readonly localKeys = false;
  readonly #options: WindowOptions;
  readonly #windowMs: number;
  /** Highest count of each key seen in the current window. */
  readonly #seen = new Map<string, number>();
  #window = 0;
  #inner: Promise<Store> | null = null;
  #warnedAtMs = 0;

  constructor(options: WindowOptions) {
    this.#options = options;
    this.#windowMs = (options.seconds ?? 1) * 1000;
  }

  async increment(key: string): Promise<ClientRateLimitInfo> {
    const nowMs = this.#options.clock.nowMs();
    const window = this.#windowAt(nowMs);
    const resetTime = new Date(realNowMs() + this.#windowMs - (nowMs % this.#windowMs));
    try {
      this.#inner ??= this.#build();
      const { totalHits } = await (await this.#inner).increment(`${key}:${window}`);
      this.#see(key, window, totalHits);
      return { totalHits, resetTime };
    } catch (error) {
      // Built again next time, because the library would cache a failed script load for ever.
      this.#inner = null;
      const isOwnFault = this.#options.redis.status === 'ready' && this.#options.loop.wasBusy(BUSY_WITHIN_MS);
      this.#warn(error, isOwnFault);
      if (!isOwnFault) return { totalHits: 1, resetTime };
      return { totalHits: this.#see(key, window, this.seen(key) + 1), resetTime };
    }
  }

  /** How often the key was counted in the current window, as far as this process knows. */
  seen(key: string): number {
    const isPresent = this.#window === this.#windowAt(this.#options.clock.nowMs());
    return isPresent ? (this.#seen.get(key) ?? 0) : 0;
  }

  #windowAt = (nowMs: number): number => Math.floor(nowMs / this.#windowMs);

  #see(key: string, window: number, hits: number): number {
    // A late answer says nothing about the current window.
    if (window < this.#window) return hits;
    if (window > this.#window) this.#seen.clear();
    this.#window = window;
    const most = Math.max(hits, this.#seen.get(key) ?? 0);
    this.#seen.set(key, most);
    return most;
  }

  async decrement(): Promise<void> {}

  async resetKey(): Promise<void> {}

  async #build(): Promise<Store> {
    const { redis, prefix } = this.#options;
    await redis.ping();
    const store = new RedisStore({
      prefix: `${prefix}:`,
      // Any node may be asked to count. One that does not know the script says so, and it is loaded again.
      sendCommand: (command: string, ...args: string[]) =>
        (command === 'SCRIPT' ? loadEverywhere(redis, args) : redis.call(command, ...args)) as never,
    });
    await store.init({ windowMs: this.#windowMs + KEPT_AFTER_MS } as never);
    return store;
  }

  #warn(error: unknown, isOwnFault: boolean): void {
    noteFallback(this.#options.redis, 'limiter windows', error);
    const now = realNowMs();
    if (now - this.#warnedAtMs < WARN_EVERY_MS) return;
    this.#warnedAtMs = now;
    this.#options.log.warn(
      { err: (error as Error).message },
      isOwnFault
        ? 'rate limiter counts alone: this process is too busy to hear redis'
        : 'rate limiter lets everything pass: redis is away or slow',
    );
  }
}

/** Loads a script into every master that answers. */
async function loadEverywhere(redis: Redis, args: string[]): Promise<unknown> {
  const answers = await Promise.allSettled(mastersOf(redis).map((node) => node.call('SCRIPT', ...args)));
  const loaded = answers.find((answer) => answer.status === 'fulfilled') ?? answers[0];
  if (loaded?.status === 'fulfilled') return loaded.value;
  throw loaded?.reason ?? new Error('no node of Redis is connected');
}
