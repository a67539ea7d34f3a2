import type { Redis } from 'ioredis';
import { noteFallback } from '../redis/fallbacks.ts';

interface LaneRedis extends Redis {
  takeLane(key: string, job: string, most: number, leaseMs: number): Promise<number>;
}

/*
 * A sorted set of jobs, scored by the instant at which their lease expires, on the clock of Redis: what a killed worker
 * held comes free by itself, and a job that is run again takes over what its former run held.
 *
 * KEYS lanes · ARGV job, how many there are, milliseconds of a lease
 */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`;

/** A few lanes for each key, shared by all processes: a job holds one while it waits for a stranger's server. */
export interface Lanes {
  /** Undefined when all lanes of the key are taken. */
  take(key: string, jobId: string): Promise<{ release(): void } | undefined>;
}

/**
 * most     how many lanes a key has
 * leaseMs  longer than any job holds one; a killed worker keeps its lane for this time
 */
export function openLanes(
  redis: Redis,
  { prefix, name, most, leaseMs }: { prefix: string; name: string; most: number; leaseMs: number },
): Lanes {
  redis.defineCommand('takeLane', { numberOfKeys: 1, lua: TAKE });
  const client = redis as LaneRedis;
  return {
    async take(key, jobId) {
      const lanes = `${prefix}:lanes:${name}:${key}`;
      if ((await client.takeLane(lanes, jobId, most, leaseMs)) === 0) return undefined;
      // Nobody waits for it; when Redis is away the lease expires by itself.
      return { release: () => void client.zrem(lanes, jobId).catch((error) => noteFallback(redis, 'lanes', error)) };
    },
  };
}
