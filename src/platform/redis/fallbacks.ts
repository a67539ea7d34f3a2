import { realNowMs } from '../clock/real-clock.ts';
import type { Log } from '../log/log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Redis } from './connect.ts';

/** What goes on without Redis when a call fails, and how. Rule: redis-cluster.md#failures-are-seen. */
export const fallbacks = {
  'limiter leases': 'each process counts its events by itself',
  'limiter windows': 'requests pass uncounted, or this process counts them by itself',
  'bulk places': 'bulk requests are not counted',
  'access checks': 'access checks read Postgres',
  'access counters': 'stored events are missing from kept counters for up to a minute',
  'access changes': 'changes reach access checks after up to a minute',
  'webhook slots': 'places of finished deliveries come free when their lease ends',
  lanes: 'places of finished questions come free when their lease ends',
  'key announcements': 'changed keys are cached for up to a minute',
  'key usage': 'last uses of keys are not noted',
  'parked jobs': 'jobs that wait for a slot are called by a later look',
  'delivery jobs': 'webhook deliveries wait for the sweeper',
  'shared metrics': 'the metrics of some processes are missing',
} as const;
export type Fallback = keyof typeof fallbacks;

/** A fallback as `/ready` shows it. */
export interface SeenFallback {
  what: Fallback;
  /** What follows from it. */
  means: string;
  reason: string;
  process: string;
}

/** Event of a connection. */
const FELL_BACK = 'fell back';
const SAY_EVERY_MS = 60_000;
/** Interval in which a process tells the others of a fallback, and how long one is shown. */
const TELL_EVERY_MS = 5000;
const SHOWN_FOR_MS = 60_000;

/** Reports that a call on this connection failed and that its caller went on without it. */
export function noteFallback(redis: Redis, what: Fallback, error: unknown): undefined {
  redis.emit(FELL_BACK, what, error);
}

const keyOf = (prefix: string): string => `${prefix}:fallbacks`;

interface Told {
  at: number;
  reason: string;
  process: string;
}

/**
 * Counts the fallbacks of some connections, logs each kind at most once a minute, and tells them to the ingress
 * processes, whose `/ready` shows them.
 *
 * redis  a patient connection, over which they are told
 */
export function watchFallbacks(connections: readonly Redis[], { redis, prefix, process, log, metrics }: Watched): void {
  const saidAtMs = new Map<Fallback, number>();
  const toldAtMs = new Map<Fallback, number>();
  const isDue = (last: Map<Fallback, number>, what: Fallback, everyMs: number): boolean => {
    const now = realNowMs();
    if (now - (last.get(what) ?? Number.NEGATIVE_INFINITY) < everyMs) return false;
    last.set(what, now);
    return true;
  };
  const note = (what: Fallback, error: unknown) => {
    metrics.redisFallbacks.inc({ what });
    const reason = error instanceof Error ? error.message : String(error);
    if (isDue(saidAtMs, what, SAY_EVERY_MS)) log.warn({ what, err: reason }, `redis failed: ${fallbacks[what]}`);
    // Sent while Redis is connected only: what waits for it would be old when it arrives.
    if (redis.status !== 'ready' || !isDue(toldAtMs, what, TELL_EVERY_MS)) return;
    const told: Told = { at: realNowMs(), reason, process };
    redis.hset(keyOf(prefix), what, JSON.stringify(told)).catch(() => {}); // it is logged and counted
  };
  for (const connection of connections) connection.on(FELL_BACK, note);
}

interface Watched {
  redis: Redis;
  prefix: string;
  /** Name of the process, as in its metrics. */
  process: string;
  log: Log;
  metrics: Metrics;
}

/** The fallbacks of all processes in the last minute. */
export async function seenFallbacks(redis: Redis, prefix: string): Promise<SeenFallback[]> {
  const since = realNowMs() - SHOWN_FOR_MS;
  return Object.entries(await redis.hgetall(keyOf(prefix))).flatMap(([name, text]) => {
    const { at, reason, process } = JSON.parse(text) as Told;
    const what = name as Fallback;
    return at >= since && what in fallbacks ? [{ what, means: fallbacks[what], reason, process }] : [];
  });
}
