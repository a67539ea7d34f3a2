import type { Redis } from 'ioredis';
import { realNowMs } from '../../platform/clock/real-clock.ts';
import { noteFallback } from '../../platform/redis/fallbacks.ts';

/** Failures of an address within the window, after which it is refused until the window ends. */
const MOST_FAILURES = 10;
const WINDOW_MS = 15 * 60_000;
/** Addresses counted by this process while Redis is away; beyond it the oldest are forgotten. */
const MOST_COUNTED = 10_000;

const ADD = `
local count = redis.call('incr', KEYS[1])
if count == 1 then redis.call('pexpire', KEYS[1], ARGV[1]) end
return { count, redis.call('pttl', KEYS[1]) }`;
const TAKE_BACK = `
if (tonumber(redis.call('get', KEYS[1])) or 0) > 0 then redis.call('decr', KEYS[1]) end`;

interface Count {
  attempts: number;
  endsAtMs: number;
}

/** An attempt that was counted. */
export interface Attempt {
  isRefused: boolean;
  /** How long it is refused. */
  retryAfterSeconds: number;
}

/**
 * Counts sign-ins that fail, by address: in Redis, and in this process alone while Redis is away. An attempt counts
 * before it is made and is taken back once it succeeds, so that many at once are no more than one after the other.
 * Rule: console.md#signing-in.
 */
export class SignInFailures {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #own = new Map<string, Count>();

  constructor(redis: Redis, prefix: string) {
    this.#redis = redis;
    this.#prefix = `${prefix}:sign-in`;
  }

  async count(address: string): Promise<Attempt> {
    let found: Count;
    try {
      const [attempts, leftMs] = (await this.#redis.eval(ADD, 1, this.#keyOf(address), WINDOW_MS)) as [number, number];
      found = { attempts, endsAtMs: realNowMs() + leftMs };
    } catch (error) {
      noteFallback(this.#redis, 'limiter windows', error);
      found = this.#countAlone(address);
    }
    const leftMs = Math.max(0, found.endsAtMs - realNowMs());
    return { isRefused: found.attempts > MOST_FAILURES, retryAfterSeconds: Math.ceil(leftMs / 1000) };
  }

  async takeBack(address: string): Promise<void> {
    const own = this.#own.get(address);
    if (own) own.attempts -= 1;
    // A lost one counts as a failure until the window ends.
    await this.#redis.eval(TAKE_BACK, 1, this.#keyOf(address)).catch(() => undefined);
  }

  #countAlone(address: string): Count {
    const now = realNowMs();
    const known = this.#own.get(address);
    const count = known && known.endsAtMs > now ? known : { attempts: 0, endsAtMs: now + WINDOW_MS };
    count.attempts += 1;
    this.#own.delete(address);
    if (this.#own.size >= MOST_COUNTED) this.#own.delete(this.#own.keys().next().value!);
    this.#own.set(address, count);
    return { ...count };
  }

  #keyOf = (address: string): string => `${this.#prefix}:${address}`;
}
