import type { Redis } from 'ioredis';
import { mastersOf } from '../../src/platform/redis/nodes.ts';

/** Keys that fit a pattern, of all nodes. */
export async function keysOf(redis: Redis, pattern: string): Promise<string[]> {
  return (await Promise.all(mastersOf(redis).map((node) => node.keys(pattern)))).flat();
}

/** Everything of a prefix: queues have it within braces. */
export const allKeysOf = async (redis: Redis, prefix: string): Promise<string[]> =>
  (await Promise.all([keysOf(redis, `${prefix}:*`), keysOf(redis, `{${prefix}:*`)])).flat();

/** Removes keys one by one, since they may lie on several nodes. */
export const removeKeys = (redis: Redis, keys: readonly string[]): Promise<unknown> =>
  Promise.all(keys.map((key) => redis.del(key)));

export const removeAllKeys = async (redis: Redis, prefix: string): Promise<unknown> =>
  removeKeys(redis, await allKeysOf(redis, prefix));
