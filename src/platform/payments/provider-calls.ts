import type { Redis } from 'ioredis';

/** How far calls may run ahead of the pace, so that a few of them at once need not wait. */
const AHEAD_MS = 250;
/** Longest life of what no job asks for any more. */
const FORGOTTEN_AFTER_MS = 600_000;
/** How long at most a job waits after the provider has refused a call as one too many, unless it says how long. */
const LONGEST_PAUSE_MS = 60_000;
/** How often a job is put off for that before it fails. */
export const MOST_PAUSES = 20;

/** The calls of a connection are used up: the job has reserved an instant, and comes back then. */
export class Later extends Error {
  readonly delayMs: number;

  constructor(delayMs: number) {
    super(`a call to a payment provider has its turn in ${delayMs} ms`);
    this.name = 'Later';
    this.delayMs = delayMs;
  }
}

/** The calls of one job to payment providers. Rule: provider-connections.md#many-calls. */
export interface ProviderCalls {
  /** @throws Later, when it is not yet the job's turn */
  takeTurn(connectionId: string): Promise<void>;
  /** The provider has had too many calls: nobody calls it for this time. */
  holdBack(connectionId: string, forMs: number): Promise<void>;
  /**
   * How long the job waits after such a refusal: as long as the provider says, else 1, 2, 4 … 60 s; undefined after
   * 20 of them.
   */
  pauseAfterRefusal(saidMs: number | undefined): Promise<number | undefined>;
}

interface CallsRedis extends Redis {
  takeProviderTurn(
    bucket: string,
    reserved: string,
    intervalMs: number,
    aheadMs: number,
    lifeMs: number,
  ): Promise<number>;
  holdProviderBack(bucket: string, forMs: number, lifeMs: number): Promise<void>;
}

/*
 * The bucket holds the next free instant of a connection, the reservation that of one job: on the clock of Redis, in
 * milliseconds. Returns how long the job has to wait.
 *
 * KEYS bucket, reservation of the job · ARGV milliseconds between two calls, how far they run ahead, life of the keys
 */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local interval, ahead, life = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local mine = tonumber(redis.call('GET', KEYS[2]) or '0')
if mine > now then return mine - now end
if mine > 0 then
  redis.call('DEL', KEYS[2])
  return 0
end
local free = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now - ahead)
redis.call('SET', KEYS[1], string.format('%.0f', free + interval), 'PX', math.max(0, free - now) + life)
if free <= now then return 0 end
redis.call('SET', KEYS[2], string.format('%.0f', free), 'PX', free - now + life)
return math.ceil(free - now)
`;

/* KEYS bucket · ARGV for how long, life of the key */
const HOLD_BACK = `
local time = redis.call('TIME')
local until_ms = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[1])
if tonumber(redis.call('GET', KEYS[1]) or '0') < until_ms then
  redis.call('SET', KEYS[1], string.format('%.0f', until_ms), 'PX', tonumber(ARGV[1]) + tonumber(ARGV[2]))
end
`;

/**
 * Paces the calls to each connection in all processes together. A job that comes too early reserves the next free
 * instant and waits for it in its queue, where it holds no slot; its turn stays its own however late it comes back.
 */
export function openProviderCalls(
  redis: Redis,
  { prefix, perSecond, aheadMs = AHEAD_MS }: { prefix: string; perSecond: number; aheadMs?: number },
): (jobId: string) => ProviderCalls {
  redis.defineCommand('takeProviderTurn', { numberOfKeys: 2, lua: TAKE });
  redis.defineCommand('holdProviderBack', { numberOfKeys: 1, lua: HOLD_BACK });
  const client = redis as CallsRedis;
  const bucketOf = (connectionId: string) => `${prefix}:provider-calls:${connectionId}`;
  const intervalMs = Math.max(1, Math.floor(1000 / perSecond));
  return (jobId) => ({
    async takeTurn(connectionId) {
      const bucket = bucketOf(connectionId);
      const waitMs = await client.takeProviderTurn(
        bucket,
        `${bucket}:${jobId}`,
        intervalMs,
        aheadMs,
        FORGOTTEN_AFTER_MS,
      );
      if (waitMs > 0) throw new Later(waitMs);
    },
    async holdBack(connectionId, forMs) {
      await client.holdProviderBack(bucketOf(connectionId), forMs, FORGOTTEN_AFTER_MS);
    },
    async pauseAfterRefusal(saidMs) {
      const key = `${prefix}:provider-pauses:${jobId}`;
      const pauses = await client.incr(key);
      await client.pexpire(key, MOST_PAUSES * LONGEST_PAUSE_MS);
      if (pauses > MOST_PAUSES) return undefined;
      return saidMs ?? Math.min(LONGEST_PAUSE_MS, 1000 * 2 ** (pauses - 1));
    },
  });
}
