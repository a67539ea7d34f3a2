import { setTimeout as wait } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { OrganizationId } from '../../platform/ids.ts';
import { newId } from '../../platform/ids.ts';
import { noteFallback } from '../../platform/redis/fallbacks.ts';
import { refuse } from '../../platform/refusal.ts';

/** Requests of one organization and kind at a time, and how long others wait (bulk-events.md#bulk). */
const PLACES = 2;
const PATIENCE_MS = 10_000;
const LOOK_AGAIN_MS = 100;
/** Lease of a place: after it a place whose process is gone is free. */
const LEFT_MS = 30_000;

// Members are requests, scores the end of their lease on Redis' clock.
const TAKE = `
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('zremrangebyscore', KEYS[1], '-inf', now)
if not redis.call('zscore', KEYS[1], ARGV[1]) and redis.call('zcard', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('zadd', KEYS[1], now + ARGV[3], ARGV[1])
redis.call('pexpire', KEYS[1], ARGV[3])
return 1`;

/** A place among the large requests of an organization. */
export interface BulkPlace {
  /** Renews the lease of the place. */
  keep(): Promise<void>;
  leave(): Promise<void>;
}

/**
 * Waits for a place among the large requests of an organization, over all ingress processes. Without Redis every
 * request has one, because nothing can be stored anyway.
 *
 * kind  of request: lines of events, or records of other programs
 *
 * @throws Refusal 429 after ten seconds
 */
export async function takeBulkPlace(
  redis: Redis,
  prefix: string,
  organizationId: OrganizationId,
  { kind = 'bulk', patienceMs = PATIENCE_MS }: { kind?: 'bulk' | 'records'; patienceMs?: number } = {},
): Promise<BulkPlace> {
  const key = `${prefix}:${kind}:${organizationId}`;
  const id = newId();
  const fellBack = (error: unknown) => noteFallback(redis, 'bulk places', error);
  const take = () => redis.eval(TAKE, 1, key, id, PLACES, LEFT_MS).catch((error) => fellBack(error) ?? 1);
  for (let waited = 0; (await take()) !== 1; waited += LOOK_AGAIN_MS) {
    if (waited >= patienceMs) throw refuse.tooManyRequests();
    await wait(LOOK_AGAIN_MS);
  }
  return {
    keep: async () => void (await take()),
    leave: async () => void (await redis.zrem(key, id).catch(fellBack)), // its lease expires
  };
}
