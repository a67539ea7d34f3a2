import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { AggregatorRegistry, type Registry } from 'prom-client';

const ANSWERED_WITHIN_MS = 1000;

export interface SharedMetrics {
  /** Metrics of every process of the deployment in the Prometheus format, of those that answer within a second. */
  collect(): Promise<string>;
  close(): void;
}

/**
 * Lets any process show the metrics of all: jobs run in worker processes, but `/metrics` is served by an ingress. A
 * scrape collects over pub/sub, and nothing is stored. Gauges are measured by the serving process only.
 */
export function shareMetrics(
  own: Registry,
  connections: { redis: Redis; subscriber: Redis },
  prefix: string,
): SharedMetrics {
  const { redis, subscriber } = connections;
  const id = randomUUID();
  const questions = `${prefix}:metrics`;
  let take: (metrics: object) => void = () => {};
  let collecting: Promise<string> | undefined;
  subscriber.on('message', (channel, text) => {
    if (channel !== questions) take(JSON.parse(text) as object);
    else if (text !== id) answer(text).catch(() => {}); // the scrape shows what it received
  });
  subscriber.subscribe(questions, `${questions}:${id}`).catch(() => {}); // the process ends

  async function answer(asker: string): Promise<void> {
    const counted = (await own.getMetricsAsJSON()).filter((metric) => String(metric.type) !== 'gauge');
    await redis.publish(`${questions}:${asker}`, JSON.stringify(counted));
  }

  async function ask(): Promise<string> {
    const all: object[] = [await own.getMetricsAsJSON()];
    let everybody: () => void = () => {};
    const answered = new Promise<void>((resolve) => {
      everybody = resolve;
    });
    let expected = Number.POSITIVE_INFINITY;
    take = (metrics) => {
      if (all.push(metrics) > expected) everybody();
    };
    expected = (await redis.publish(questions, id)) - 1; // this process hears its own message
    const timer = setTimeout(everybody, ANSWERED_WITHIN_MS);
    if (all.length <= expected) await answered;
    clearTimeout(timer);
    return AggregatorRegistry.aggregate(all).metrics();
  }

  return {
    collect() {
      collecting ??= ask().finally(() => {
        collecting = undefined;
      });
      return collecting;
    },
    close: () => subscriber.disconnect(),
  };
}
