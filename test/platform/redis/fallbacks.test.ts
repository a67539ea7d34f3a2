import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { openSlots } from '../../../src/areas/messaging/deliver-webhooks/slots.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { createMetrics } from '../../../src/platform/metrics/metrics.ts';
import { shareMetrics } from '../../../src/platform/metrics/shared-metrics.ts';
import { connectPatiently, type Redis } from '../../../src/platform/redis/connect.ts';
import { noteFallback, seenFallbacks, watchFallbacks } from '../../../src/platform/redis/fallbacks.ts';
import { removeAllKeys } from '../../support/redis-keys.ts';
import { until } from '../../support/until.ts';

const prefix = `t${randomUUID().slice(0, 8)}`;
let redis: Redis;
beforeAll(() => {
  redis = connectPatiently(inject('redisUrl'), 'test');
});
afterEach(() => removeAllKeys(redis, prefix));
afterAll(() => redis.disconnect());

function watched() {
  const connection = connectPatiently(inject('redisUrl'), 'test');
  const metrics = createMetrics('webhooks');
  const lines: string[] = [];
  const log = createLog({ level: 'warn', process: 'test' }, { write: (line) => void lines.push(line) });
  watchFallbacks([connection], { redis: connection, prefix, process: 'webhooks', log, metrics });
  const counted = async () =>
    (await metrics.redisFallbacks.get()).values.map(({ labels, value }) => [labels.what, value]);
  return { connection, lines, counted };
}

test('what goes on without Redis is counted, logged once, and shown to every process', async () => {
  const { connection, lines, counted } = watched();
  await connection.ping();
  for (let time = 0; time < 3; time += 1) noteFallback(connection, 'access checks', new Error('CLUSTERDOWN'));
  expect(await counted()).toEqual([['access checks', 3]]);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('redis failed: access checks read Postgres');
  expect(await until(async () => (await seenFallbacks(redis, prefix))[0])).toEqual({
    what: 'access checks',
    means: 'access checks read Postgres',
    reason: 'CLUSTERDOWN',
    process: 'webhooks',
  });
  connection.disconnect();
});

test('places of webhook endpoints that could not be given back are no secret', async () => {
  const { connection, counted } = watched();
  const slots = openSlots(connection, { prefix, attemptMs: 1000 });
  const holder = { id: 'job', organizationId: 'o', endpointId: 'e' };
  const held = await slots.take(holder, ['d']);
  // As a cluster answers for a key of another node: within the answers of a pipeline that was sent.
  await redis.del(`${prefix}:webhook-slots:held:{o}:e`);
  await redis.set(`${prefix}:webhook-slots:held:{o}:e`, 'no hash');
  held!.release();
  expect(await until(async () => ((await counted()).length > 0 ? counted() : undefined))).toEqual([
    ['webhook slots', 1],
  ]);
  connection.disconnect();
});

test('a scrape waits for the processes that have registered, and says how many are silent', async () => {
  const shared = [1, 2].map((number) => {
    const metrics = createMetrics(`process-${number}`);
    const connections = [0, 1].map(() => connectPatiently(inject('redisUrl'), 'test')) as [Redis, Redis];
    const own = shareMetrics(metrics, { redis: connections[0], subscriber: connections[1] }, prefix);
    return { ...own, metrics, redis: connections[0] };
  });
  const [asker] = shared;
  const registered = () => redis.zcard(`${prefix}:metrics:processes`);
  await until(async () => (await registered()) === 2);
  for (const { metrics } of shared) metrics.eventsStored.inc({ verdict: 'stored' }, 7);
  const seen = await asker!.collect();
  expect(seen).toContain('process="process-1"');
  expect(seen).toContain('process="process-2"');
  expect(seen).toMatch(/meterstone_silent_processes\{[^}]*\} 0/);
  // A process that was killed.
  await redis.zadd(`${prefix}:metrics:processes`, Date.now() + 10_000, 'killed');
  expect(await asker!.collect()).toMatch(/meterstone_silent_processes\{[^}]*\} 1/);
  await shared[1]!.close();
  expect(await registered()).toBe(2);
  await asker!.close();
  for (const each of shared) each.redis.disconnect();
});
