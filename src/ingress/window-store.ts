import type { ClientRateLimitInfo, Store } from 'express-rate-limit';
import type { Redis } from 'ioredis';
import { RedisStore } from 'rate-limit-redis';
import { realNowMs } from '../platform/clock/real-clock.ts';
import type { Log } from '../platform/log/log.ts';

const WARN_EVERY_MS = 60_000;
// A window is one second; its counter is kept a little longer (platform C.2).
const KEPT_MS = 2000;

// The offset is asked for this often; of a few answers at the start the quickest tells it best.
const ASK_EVERY_MS = 30_000;
const ASKED_AT_START = 5;

/** Redis' clock as this process knows it: its own plus an offset, asked again now and then. */
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
      const time = await this.#redis.time().catch(() => undefined); // the former offset stays good enough
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

/**
 * rate-limit-redis behind the fixed clock second of platform C.2: the epoch second is part of the key. It never throws
 * (bare, the library leaves the headers out and prints a line per request) and builds the inner store only after Redis
 * has answered once, since a failed script load is kept for ever (performance-design 2.3 rule 9).
 */
export class WindowStore implements Store {
  readonly localKeys = false;
  readonly #options: { redis: Redis; prefix: string; clock: RedisClock; log: Log };
  #inner: Promise<Store> | null = null;
  #warnedAtMs = 0;

  constructor(options: { redis: Redis; prefix: string; clock: RedisClock; log: Log }) {
    this.#options = options;
  }

  async increment(key: string): Promise<ClientRateLimitInfo> {
    const nowMs = this.#options.clock.nowMs();
    const second = Math.floor(nowMs / 1000);
    const resetTime = new Date(realNowMs() + 1000 - (nowMs % 1000));
    try {
      this.#inner ??= this.#build();
      const { totalHits } = await (await this.#inner).increment(`${key}:${second}`);
      return { totalHits, resetTime };
    } catch (error) {
      // Built anew next time: the library would keep a failed script load for ever.
      this.#inner = null;
      this.#warn(error);
      return { totalHits: 1, resetTime };
    }
  }

  async decrement(): Promise<void> {}

  async resetKey(): Promise<void> {}

  async #build(): Promise<Store> {
    const { redis, prefix } = this.#options;
    await redis.ping();
    const store = new RedisStore({
      prefix: `${prefix}:`,
      sendCommand: (command: string, ...args: string[]) => redis.call(command, ...args) as never,
    });
    await store.init({ windowMs: KEPT_MS } as never);
    return store;
  }

  #warn(error: unknown): void {
    const now = realNowMs();
    if (now - this.#warnedAtMs < WARN_EVERY_MS) return;
    this.#warnedAtMs = now;
    this.#options.log.warn(
      { err: (error as Error).message },
      'rate limiter lets everything pass: redis is away or slow',
    );
  }
}
