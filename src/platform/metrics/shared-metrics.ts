import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { AggregatorRegistry } from 'prom-client';
import { noteFallback } from '../redis/fallbacks.ts';
import type { Metrics } from './metrics.ts';

const ANSWERED_WITHIN_MS = 1000;
/** Interval in which a process says that it is there, and how long it is expected to answer after the last time. */
const REGISTER_EVERY_MS = 5000;
const EXPECTED_FOR_MS = 15_000;

/* Registers a process and forgets those that are gone. KEYS processes · ARGV process, how many ms it is expected */
const REGISTER = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`;

export interface SharedMetrics {
  /** Metrics of every process of the deployment in the Prometheus format, of those that answer within a second. */
  collect(): Promise<string>;
  close(): Promise<void>;
}

interface Answer {
  from: string;
  metrics: object;
}

const processesKey = (prefix: string): string => `${prefix}:metrics:processes`;

/** How many processes a scrape would ask now. */
export const countMeasured = (redis: Redis, prefix: string): Promise<number> => redis.zcard(processesKey(prefix));

/**
 * Lets any process show the metrics of all: jobs run in worker processes, but `/metrics` is served by an ingress. A
 * scrape collects over pub/sub, from the processes that have registered: a node of a cluster knows only of the
 * subscribers at itself. Gauges are measured by the serving process only. Rule: redis-cluster.md#metrics.
 */
export function shareMetrics(
  { registry: own, silentProcesses }: Pick<Metrics, 'registry' | 'silentProcesses'>,
  connections: { redis: Redis; subscriber: Redis },
  prefix: string,
): SharedMetrics {
  const { redis, subscriber } = connections;
  const id = randomUUID();
  const questions = `${prefix}:metrics:questions`;
  const processes = processesKey(prefix);
  const fellBack = (error: unknown) => noteFallback(redis, 'shared metrics', error);
  let take: (answer: Answer) => void = () => {};
  let collecting: Promise<string> | undefined;
  subscriber.on('message', (channel, text) => {
    if (channel !== questions) take(JSON.parse(text) as Answer);
    else if (text !== id) answer(text).catch(fellBack); // the scrape shows what it received
  });
  const register = () => redis.eval(REGISTER, 1, processes, id, EXPECTED_FOR_MS).catch(fellBack);
  // Registered once it hears questions, since a scrape waits for those that are registered.
  const subscribed = subscriber.subscribe(questions, `${questions}:${id}`).then(register, () => {}); // the process ends
  const timer = setInterval(() => {
    if (redis.status === 'ready') void subscribed.then(register);
  }, REGISTER_EVERY_MS);
  timer.unref();

  async function answer(asker: string): Promise<void> {
    const counted = (await own.getMetricsAsJSON()).filter((metric) => String(metric.type) !== 'gauge');
    const message: Answer = { from: id, metrics: counted };
    await redis.publish(`${questions}:${asker}`, JSON.stringify(message));
  }

  async function ask(): Promise<string> {
    const answers = new Map<string, object>();
    let expected: string[] | undefined;
    let everybody: () => void = () => {};
    const answered = new Promise<void>((resolve) => {
      everybody = resolve;
    });
    const missing = () => expected?.filter((each) => each !== id && !answers.has(each)) ?? [];
    const look = () => {
      if (expected !== undefined && missing().length === 0) everybody();
    };
    take = ({ from, metrics }) => {
      answers.set(from, metrics);
      look();
    };
    const [known] = await Promise.all([redis.zrange(processes, '0', '-1'), redis.publish(questions, id)]);
    expected = known;
    const late = setTimeout(everybody, ANSWERED_WITHIN_MS);
    look();
    await answered;
    clearTimeout(late);
    const silent = missing();
    silentProcesses.set(silent.length);
    if (silent.length > 0) fellBack(`${silent.length} of ${known.length} processes do not answer`);
    return AggregatorRegistry.aggregate([await own.getMetricsAsJSON(), ...answers.values()]).metrics();
  }

  return {
    collect() {
      collecting ??= ask().finally(() => {
        collecting = undefined;
      });
      return collecting;
    },
    async close() {
      clearInterval(timer);
      if (redis.status === 'ready') await redis.zrem(processes, id).catch(() => {}); // it is expected a while longer
      subscriber.disconnect();
    },
  };
}
