import type { Redis } from 'ioredis';
import { realNowMs } from '../platform/clock/real-clock.ts';
import type { ApiKeyId } from '../platform/ids.ts';
import { keyUsageKey } from '../platform/redis/channels.ts';
import { noteFallback } from '../platform/redis/fallbacks.ts';

const WRITE_EVERY_MS = 10_000;

/**
 * Last use of API keys: written to Redis every few seconds, copied to Postgres by the job `key-usage`
 * (api-keys.md#authentication).
 */
export class KeyUsage {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #timer: NodeJS.Timeout;
  #used = new Map<string, number>();

  constructor(redis: Redis, prefix: string) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#timer = setInterval(() => void this.flush(), WRITE_EVERY_MS);
    this.#timer.unref();
  }

  note(apiKeyId: ApiKeyId): void {
    this.#used.set(apiKeyId, realNowMs());
  }

  async flush(): Promise<void> {
    if (this.#used.size === 0) return;
    const used = Object.fromEntries(this.#used);
    this.#used = new Map();
    // may be lost (periodic-jobs.md, key-usage)
    await this.#redis
      .hset(keyUsageKey(this.#prefix), used)
      .catch((error) => noteFallback(this.#redis, 'key usage', error));
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }
}
