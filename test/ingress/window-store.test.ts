import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { type LoopWatch, watchLoop } from '../../src/ingress/loop-watch.ts';
import { RedisClock, WindowStore } from '../../src/ingress/window-store.ts';
import { createLog } from '../../src/platform/log/log.ts';
import { connectImpatiently, type Redis } from '../../src/platform/redis/connect.ts';
import { until } from '../support/until.ts';

const TIMEOUT_MS = 50;
const log = createLog({ level: 'silent', process: 'test' });
const loop = watchLoop();
afterAll(() => loop.close());

const storeOn = (redis: Redis, clock: { nowMs(): number }, watch: LoopWatch = loop) =>
  new WindowStore({ redis, prefix: `t${randomUUID()}`, clock, loop: watch, log });

function block(forMs: number): void {
  const end = performance.now() + forMs;
  while (performance.now() < end);
}

const hitsOf = (answers: { totalHits: number }[]) => answers.map(({ totalHits }) => totalHits).sort((a, b) => a - b);

test('a process too busy to read the answers of Redis counts requests by itself', async () => {
  const redis = connectImpatiently(inject('redisUrl'), 'test limiter', TIMEOUT_MS);
  const clock = new RedisClock(redis);
  // One window for the whole test: the second must not turn while the loop is held up.
  const startMs = Math.floor(clock.nowMs() / 1000) * 1000;
  const store = storeOn(redis, { nowMs: () => startMs });
  await until(async () => (await store.increment('warm')).totalHits > 1);
  const before = await store.increment('acme');
  expect(before.totalHits).toBe(1);
  const sent = Array.from({ length: 60 }, () => store.increment('acme'));
  await new Promise((resolve) => setImmediate(resolve));
  block(4 * TIMEOUT_MS);
  const hits = hitsOf(await Promise.all(sent));
  expect(hits.at(-1)).toBeGreaterThanOrEqual(60);
  expect(hits.filter((hit) => hit <= 10).length).toBeLessThanOrEqual(10);
  clock.close();
  redis.disconnect();
});

describe('requests that pass the rate limit', () => {
  const failing = (status: string) =>
    ({
      status,
      ping: async () => 'PONG',
      emit() {},
      call: async () => {
        await new Promise((resolve) => setTimeout(resolve, TIMEOUT_MS));
        throw new Error('Command timed out');
      },
    }) as unknown as Redis;

  test('a request passes when Redis is slow and this process is not', async () => {
    const idle: LoopWatch = { wasBusy: () => false, close() {} };
    const store = storeOn(failing('ready'), { nowMs: () => 0 }, idle);
    expect(hitsOf(await Promise.all([store.increment('acme'), store.increment('acme')]))).toEqual([1, 1]);
  });

  test('a request passes when Redis is away, however busy this process is', async () => {
    const store = storeOn(failing('reconnecting'), { nowMs: () => 0 });
    const sent = [store.increment('acme'), store.increment('acme')];
    block(2 * TIMEOUT_MS);
    expect(hitsOf(await Promise.all(sent))).toEqual([1, 1]);
  });
});

test('counted requests are remembered until the second is over', async () => {
  const redis = connectImpatiently(inject('redisUrl'), 'test limiter', 5000);
  let nowMs = 1_000_000;
  const store = storeOn(redis, { nowMs: () => nowMs });
  await until(async () => (await store.increment('warm')).totalHits > 1);
  await Promise.all([store.increment('acme'), store.increment('acme')]);
  expect([store.seen('acme'), store.seen('other')]).toEqual([2, 0]);
  nowMs += 1000;
  expect(store.seen('acme')).toBe(0);
  redis.disconnect();
});
