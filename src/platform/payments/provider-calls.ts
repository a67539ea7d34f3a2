import type { Redis } from 'ioredis';

/** How far calls may run ahead of the pace, so that a few of them at once need not wait. */
const AHEAD_MS = 250;
/** Longest life of what no job asks for any more. */
const FORGOTTEN_AFTER_MS = 600_000;
/** How long at most a job waits after the provider has refused a call as one too many, unless it says how long. */
const LONGEST_PAUSE_MS = 60_000;
/** Longest wait for a turn of somebody who waits for the answer: with the call itself, less than the time they have. */
export const WAITED_MOST_MS = 4000;
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

/** The turn would come later than somebody can wait: nothing is reserved. */
export class TurnTooLate extends Error {
  readonly delayMs: number;

  constructor(delayMs: number) {
    super(`a call to a payment provider would have its turn in ${delayMs} ms only`);
    this.name = 'TurnTooLate';
    this.delayMs = delayMs;
  }
}

/** The calls of one job to payment providers. Rule: provider-connections.md#many-calls. */
export interface ProviderCalls {
  /** Whether somebody waits for what is called. */
  readonly isWaited: boolean;
  /**
   * @param perSecond how many calls a second the provider takes, where it takes fewer than the setting allows
   * @param mostMs how long somebody can wait for the turn
   * @throws Later, when it is not yet the job's turn; TurnTooLate, when that comes after `mostMs`
   */
  takeTurn(connectionId: string, perSecond?: number, mostMs?: number): Promise<void>;
  /**
   * The same for a caller who waits by itself: how long it has to wait, if that is at most `mostMs`; else undefined,
   * and nothing is reserved, so that calls which nobody makes hold up no others.
   */
  takeTurnWithin(connectionId: string, mostMs: number): Promise<number | undefined>;
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
    hold: string,
    jobs: string,
    intervalMs: number,
    aheadMs: number,
    lifeMs: number,
    pushMs: number,
    mostMs: number,
    isReserving: 0 | 1,
  ): Promise<number>;
  holdProviderBack(hold: string, forMs: number, lifeMs: number): Promise<void>;
}

/*
 * The bucket holds the next free instant of a connection, the reservation that of one job, the hold the instant before
 * which nobody calls: on the clock of Redis, in milliseconds. Returns how long the job has to wait. A reservation that
 * a hold has overtaken is void, and another one is made after it, so that not all who waited call at its end. A call
 * for which somebody waits has a bucket of its own, and pushes the bucket of jobs. A caller who waits by itself has no
 * reservation. A negative wait is longer than the longest one, and nothing is reserved for it.
 *
 * KEYS bucket, reservation of the job, hold, bucket of jobs · ARGV milliseconds between two calls, how far they run
 * ahead, life of the keys, how far the bucket of jobs is pushed, longest wait (-1 without one), 1 to reserve an instant
 */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local interval, ahead, life, push = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local most = tonumber(ARGV[5])
local held = tonumber(redis.call('GET', KEYS[3]) or '0')
local mine = tonumber(redis.call('GET', KEYS[2]) or '0')
if mine > 0 and mine >= held then
  if mine > now then return mine - now end
  redis.call('DEL', KEYS[2])
  return 0
end
local free = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now - ahead, held)
if most >= 0 and free - now > most then return -math.ceil(free - now) end
redis.call('SET', KEYS[1], string.format('%.0f', free + interval), 'PX', math.max(0, free - now) + life)
if push > 0 then
  local jobs = tonumber(redis.call('GET', KEYS[4]) or '0')
  if jobs > now then redis.call('SET', KEYS[4], string.format('%.0f', jobs + push), 'PX', jobs - now + life) end
end
if free <= now then
  redis.call('DEL', KEYS[2])
  return 0
end
if ARGV[6] == '1' then redis.call('SET', KEYS[2], string.format('%.0f', free), 'PX', free - now + life) end
return math.ceil(free - now)
`;

/* KEYS hold · ARGV for how long, life of the key */
const HOLD_BACK = `
local time = redis.call('TIME')
local until_ms = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[1])
if tonumber(redis.call('GET', KEYS[1]) or '0') < until_ms then
  redis.call('SET', KEYS[1], string.format('%.0f', until_ms), 'PX', tonumber(ARGV[1]) + tonumber(ARGV[2]))
end
`;

/** Calls for which somebody waits have this part of the pace to themselves, whatever jobs have reserved. */
const WAITED_PART = 4;
/** How far they may run ahead: as many of them as in a second. */
const WAITED_AHEAD_MS = 1000;

/**
 * Paces the calls to each connection in all processes together. A job that comes too early reserves the next free
 * instant and waits for it in its queue, where it holds no slot; its turn stays its own however late it comes back,
 * unless the provider has held all back meanwhile.
 *
 * isWaited  somebody waits for these calls: they do not queue behind those of a billing run
 */
export function openProviderCalls(
  redis: Redis,
  {
    prefix,
    perSecond: most,
    isWaited = false,
    aheadMs = isWaited ? WAITED_AHEAD_MS : AHEAD_MS,
  }: { prefix: string; perSecond: number; isWaited?: boolean; aheadMs?: number },
): (jobId: string) => ProviderCalls {
  redis.defineCommand('takeProviderTurn', { numberOfKeys: 4, lua: TAKE });
  redis.defineCommand('holdProviderBack', { numberOfKeys: 1, lua: HOLD_BACK });
  const client = redis as CallsRedis;
  const keyOf = (connectionId: string, part: string) => `${prefix}:provider-calls:{${connectionId}}:${part}`;
  const take = (
    jobId: string,
    connectionId: string,
    { perSecond, mostMs, isReserving }: { perSecond: number; mostMs: number; isReserving: boolean },
  ): Promise<number> => {
    const intervalMs = Math.max(1, Math.floor(1000 / Math.min(most, perSecond)));
    return client.takeProviderTurn(
      keyOf(connectionId, isWaited ? 'waited' : 'jobs'),
      keyOf(connectionId, `job:${jobId}`),
      keyOf(connectionId, 'hold'),
      keyOf(connectionId, 'jobs'),
      isWaited ? intervalMs * WAITED_PART : intervalMs,
      aheadMs,
      FORGOTTEN_AFTER_MS,
      isWaited ? intervalMs : 0,
      mostMs,
      isReserving ? 1 : 0,
    );
  };
  return (jobId) => ({
    isWaited,
    async takeTurn(connectionId, perSecond = most, mostMs = -1) {
      const waitMs = await take(jobId, connectionId, { perSecond, mostMs, isReserving: true });
      if (waitMs < 0) throw new TurnTooLate(-waitMs);
      if (waitMs > 0) throw new Later(waitMs);
    },
    async takeTurnWithin(connectionId, mostMs) {
      const waitMs = await take(jobId, connectionId, { perSecond: most, mostMs, isReserving: false });
      return waitMs < 0 ? undefined : waitMs;
    },
    async holdBack(connectionId, forMs) {
      await client.holdProviderBack(keyOf(connectionId, 'hold'), forMs, FORGOTTEN_AFTER_MS);
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
