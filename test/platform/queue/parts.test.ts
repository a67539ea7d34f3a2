import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { createLog } from '../../../src/platform/log/log.ts';
import { createProducer, type Producer } from '../../../src/platform/queue/producer.ts';
import { allStoredNames, partOf, storedNames } from '../../../src/platform/queue/queue-names.ts';
import { standingQueues } from '../../../src/platform/queue/queue-progress.ts';
import { serveQueue } from '../../../src/platform/queue/worker.ts';
import { connectPatiently } from '../../../src/platform/redis/connect.ts';
import { refuseSeveralSlots } from '../../support/one-slot.ts';
import { keysOf, removeAllKeys } from '../../support/redis-keys.ts';
import { until } from '../../support/until.ts';

refuseSeveralSlots();
const PARTS = { analytics: 3 };
let redis: Redis;
let prefix: string;
let producer: Producer;
const workers: { close(): Promise<void> }[] = [];

beforeEach(() => {
  prefix = `t${randomUUID().slice(0, 8)}`;
  redis = connectPatiently(inject('redisUrl'), 'test');
  producer = createProducer(redis, prefix, PARTS);
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.close()));
  await producer.close();
  await removeAllKeys(redis, prefix);
  redis.disconnect();
});

/** A worker whose jobs run until they are ended by hand. */
function work(slots: number) {
  const running: { organization: string; end(): void }[] = [];
  const done: string[] = [];
  const served = serveQueue(
    'analytics',
    {
      async 'analytics.roll-up'({ organization_id: organization }) {
        await new Promise<void>((resolve) => {
          running.push({ organization, end: resolve });
        });
        done.push(organization);
      },
    },
    { redis, prefix, parts: PARTS, concurrency: slots, log: createLog({ level: 'silent', process: 'test' }) },
  );
  workers.push(served);
  return {
    done,
    running,
    count: (organization: string) => running.filter((job) => job.organization === organization).length,
    async finish(jobs: number) {
      await until(() => {
        for (const job of running.splice(0)) job.end();
        return done.length === jobs;
      });
    },
  };
}

const add = (organization: string, jobs: number) =>
  producer.addMany(
    'analytics.roll-up',
    Array.from({ length: jobs }, () => ({ payload: { organization_id: organization } })),
  );

const delayed = async () => {
  const parts = producer.storedQueues().filter(({ of }) => of === 'analytics');
  return (await Promise.all(parts.map(({ queue }) => queue.getDelayedCount()))).reduce((sum, count) => sum + count, 0);
};

/** Organizations of the parts 0, 1 and 2. */
const [first, second, third] = [0, 1, 2].map((part) => {
  for (let number = 0; ; number += 1) if (partOf(`o${number}`, 3) === part) return `o${number}`;
}) as [string, string, string];

test('one part has the name of its queue, several are numbered, and an organization is always in the same', () => {
  expect(storedNames('events', {})).toEqual(['events']);
  expect(storedNames('events', { events: 1 })).toEqual(['events']);
  expect(storedNames('events', { events: 2 })).toEqual(['events-0', 'events-1']);
  // Literals: an ingress and a worker of other versions agree on them.
  const ids = ['018f4e3a-0000-7000-8000-000000000001', '018f4e3a-0000-7000-8000-000000000002'];
  expect(ids.map((id) => [partOf(id, 1), partOf(id, 3), partOf(id, 16)])).toEqual([
    [0, 1, 3],
    [0, 0, 6],
  ]);
});

test('a worker serves all parts with one set of slots, shared as those of one queue', async () => {
  const worker = work(8);
  await add(first, 40);
  await until(() => worker.count(first) === 4);
  await until(async () => (await delayed()) === 36);
  // Of 8 slots 4 are left: an organization of another part gets 2 of them, and a third one the next.
  await add(second, 10);
  await until(() => worker.count(second) === 2);
  await add(third, 5);
  await until(() => worker.count(third) === 1);
  await until(async () => (await delayed()) === 36 + 8 + 4);
  expect(worker.running).toHaveLength(7);
  await worker.finish(55);
  expect(await delayed()).toBe(0);
  await until(async () => (await keysOf(redis, `{${prefix}:*}:parked:*`)).length === 0);
});

test('jobs of an organization lie in its part, and each part shows by itself whether it moves', async () => {
  await add(second, 3);
  const counts = await Promise.all(
    producer
      .storedQueues()
      .filter(({ of }) => of === 'analytics')
      .map(async ({ queue }) => [queue.name, await queue.getWaitingCount()]),
  );
  expect(counts).toEqual([
    ['analytics-0', 0],
    ['analytics-1', 3],
    ['analytics-2', 0],
  ]);
  const names = storedNames('analytics', PARTS);
  expect(await standingQueues(redis, prefix, names)).toEqual(names);
  const worker = work(4);
  await until(async () => (await standingQueues(redis, prefix, names)).length === 0);
  await worker.finish(3);
  expect(allStoredNames(PARTS)).toContain('analytics-2');
});
