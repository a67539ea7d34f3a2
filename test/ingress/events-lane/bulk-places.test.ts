import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { takeBulkPlace } from '../../../src/ingress/events-lane/bulk-places.ts';
import { connectPatiently } from '../../../src/platform/redis/connect.ts';
import { removeAllKeys } from '../../support/redis-keys.ts';

let redis: Redis;
const prefix = `t${randomUUID().slice(0, 8)}`;

beforeAll(() => {
  redis = connectPatiently(inject('redisUrl'), 'test');
});
afterAll(async () => {
  await removeAllKeys(redis, prefix);
  redis.disconnect();
});

test('an organization has two places for bulk requests; a third request waits and finally gives up', async () => {
  const take = (patienceMs: number) => takeBulkPlace(redis, prefix, 'o', { patienceMs });
  const first = await take(0);
  const second = await take(0);
  await first.keep(); // needs no further place
  await expect(take(150)).rejects.toMatchObject({ status: 429 });
  const third = take(5000);
  await second.leave();
  await (await third).leave();
  await takeBulkPlace(redis, prefix, 'another', { patienceMs: 0 });
  await first.leave();
  expect(await redis.zcard(`${prefix}:bulk:o`)).toBe(0);
});

test('without Redis every bulk request has a place', async () => {
  const away = new Redis(1, {
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    retryStrategy: null,
  });
  away.on('error', () => {});
  const place = await takeBulkPlace(away, prefix, 'o', { patienceMs: 0 });
  await place.leave();
  away.disconnect();
});
