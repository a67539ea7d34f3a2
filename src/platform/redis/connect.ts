import { Redis, type RedisOptions } from 'ioredis';

export type { Redis } from 'ioredis';

const reconnect = (attempt: number) => Math.min(50 * 2 ** attempt, 1000);

/** Connection of a queue, a worker or a subscriber, which waits for Redis to come back for any time. */
export const connectPatiently = (url: string, name: string): Redis =>
  quiet(new Redis(url, { ...shared(name), maxRetriesPerRequest: null }));

/**
 * Connection of the limiters: a stopped Redis fails a call at once instead of making a request hang
 * (rate-limits.md#leases).
 */
export const connectImpatiently = (url: string, name: string, commandTimeoutMs: number): Redis =>
  quiet(
    new Redis(url, {
      ...shared(name),
      maxRetriesPerRequest: 0,
      commandTimeout: commandTimeoutMs,
      enableOfflineQueue: false,
    }),
  );

const shared = (name: string): RedisOptions => ({
  connectionName: name,
  retryStrategy: reconnect,
  enableReadyCheck: true,
  lazyConnect: false,
});

// Without a listener every lost connection would be an unhandled error; the retry strategy handles it.
function quiet(redis: Redis): Redis {
  redis.on('error', () => {});
  return redis;
}
