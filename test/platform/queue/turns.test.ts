import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { createLog } from '../../../src/platform/log/log.ts';
import { createProducer, type Producer } from '../../../src/platform/queue/producer.ts';
import { serveQueue } from '../../../src/platform/queue/worker.ts';
import { connectPatiently } from '../../../src/platform/redis/connect.ts';
import { keysOf, removeAllKeys } from '../../support/redis-keys.ts';
import { until } from '../../support/until.ts';

let redis: Redis;
let prefix: string;
let producer: Producer;
const workers: { close(): Promise<void> }[] = [];

beforeEach(() => {
  prefix = `t${randomUUID().slice(0, 8)}`;
  redis = connectPatiently(inject('redisUrl'), 'test');
  producer = createProducer(redis, prefix);
});

afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.close()));
  await producer.close();
  await removeAllKeys(redis, prefix);
  redis.disconnect();
});

interface Running {
  organization: string;
  end(): void;
}

/** A worker whose jobs run until they are ended by hand. */
function work(slots: number) {
  const running: Running[] = [];
  const done: string[] = [];
  const served = serveQueue(
    'analytics',
    {
      async 'analytics.roll-up'({ organization_id: organization, customer_key: customer }) {
        await new Promise<void>((resolve) => {
          running.push({ organization, end: resolve });
        });
        done.push(customer === undefined ? organization : `${organization}/${customer}`);
      },
    },
    { redis, prefix, concurrency: slots, log: createLog({ level: 'silent', process: 'test' }) },
  );
  workers.push(served);
  return {
    done,
    running,
    /** Jobs of the organization that run now. */
    count: (organization: string) => running.filter((job) => job.organization === organization).length,
    end(organization: string) {
      const [job] = running.splice(
        running.findIndex((each) => each.organization === organization),
        1,
      );
      job!.end();
    },
    /** Ends everything as it comes until so many jobs are done. */
    async finish(jobs: number) {
      await until(() => {
        for (const job of running.splice(0)) job.end();
        return done.length === jobs;
      });
    },
    close: served.close,
  };
}

const add = (organization: string, jobs: number, customer?: string) =>
  producer.addMany(
    'analytics.roll-up',
    Array.from({ length: jobs }, () => ({
      payload: { organization_id: organization, ...(customer === undefined ? {} : { customer_key: customer }) },
    })),
  );

const counts = () => producer.queue('analytics').getJobCounts('waiting', 'active', 'delayed');
const parkedKeys = async () => (await keysOf(redis, `{${prefix}:*}:parked:*`)).sort();

/** Waits until workers have looked after their parked jobs so many times. */
async function looks(times: number): Promise<void> {
  const lanes = `{${prefix}:analytics}:parked:lanes`;
  for (let seen = 0; seen < times; seen += 1) {
    const before = await redis.zscore(lanes, 'a');
    await until(async () => (await redis.zscore(lanes, 'a')) !== before);
  }
}

test('an organization with a backlog leaves slots free, and another one runs at once', async () => {
  const worker = work(8);
  await add('a', 40);
  await until(() => worker.count('a') === 4);
  await until(async () => (await counts()).delayed === 36);
  await add('b', 1);
  await until(() => worker.count('b') === 1);
  expect(worker.count('a')).toBe(4);
  await worker.finish(41);
  expect(await counts()).toEqual({ waiting: 0, active: 0, delayed: 0 });
  await until(async () => (await parkedKeys()).length === 0);
});

test('a free slot is taken at once by the oldest waiting job of the same organization', async () => {
  const worker = work(2);
  await producer.addMany(
    'analytics.roll-up',
    ['1', '2', '3', '4'].map((customer) => ({ payload: { organization_id: 'a', customer_key: customer } })),
  );
  await until(async () => (await counts()).delayed === 3);
  for (let done = 1; done <= 4; done += 1) {
    await until(() => worker.running.length === 1);
    worker.end('a');
    await until(() => worker.done.length === done);
  }
  expect(worker.done).toEqual(['a/1', 'a/2', 'a/3', 'a/4']);
});

test('a job that somebody waits for goes before the jobs in the background that were parked long before it', async () => {
  const worker = work(2);
  const payload = (customer: string) => ({ organization_id: 'a', customer_key: customer });
  await producer.addMany(
    'analytics.roll-up',
    ['1', '2', '3'].map((customer) => ({ payload: payload(customer), options: { inBackground: true } })),
  );
  await until(async () => (await counts()).delayed === 2);
  await producer.addMany('analytics.roll-up', [{ payload: payload('asked') }]);
  await until(async () => (await counts()).delayed === 3);
  for (let done = 1; done <= 4; done += 1) {
    await until(() => worker.running.length === 1);
    worker.end('a');
    await until(() => worker.done.length === done);
  }
  expect(worker.done[1]).toBe('a/asked');
});

test('two jobs of one customer run, and other customers of its organization do not wait behind it', async () => {
  const worker = work(10);
  await add('a', 20, 'ada');
  await until(async () => (await counts()).delayed === 18);
  await add('a', 1, 'bob');
  await until(() => worker.count('a') === 3);
  await worker.finish(21);
});

test('waiting jobs cost nothing: none moves until another ends', async () => {
  const worker = work(8);
  await add('a', 200);
  await until(async () => (await counts()).delayed === 196);
  await looks(2);
  const jobs = await producer.queue('analytics').getDelayed();
  expect(jobs).toHaveLength(196);
  expect(Math.max(...jobs.map((job) => job.attemptsStarted))).toBe(1);
  await worker.finish(200);
});

test('a parked job that was called by a process which died is called again', async () => {
  const worker = work(4);
  await add('a', 3);
  await until(async () => (await counts()).delayed === 1);
  const [parked] = await producer.queue('analytics').getDelayed();
  // As a killed process leaves it: called, still delayed, and in no list.
  await redis.zrem(`{${prefix}:analytics}:parked:jobs:a`, parked!.id!);
  await redis.zadd(`{${prefix}:analytics}:parked:called`, 1, parked!.id!);
  await worker.finish(3);
  await until(async () => (await parkedKeys()).length === 0);
});

test('remains of the lists after a flush of Redis do no harm', async () => {
  const worker = work(2);
  await add('a', 5);
  await until(async () => (await counts()).delayed === 4);
  await producer.queue('analytics').obliterate({ force: true });
  await add('b', 1);
  await until(() => worker.count('b') === 1);
  for (const job of worker.running.splice(0)) job.end();
  await until(async () => (await parkedKeys()).length === 0);
});

test('another process takes the jobs that a stopped one left parked', async () => {
  const first = work(2);
  await add('a', 5);
  await until(async () => (await counts()).delayed === 4);
  let isClosed = false;
  const closing = first.close().then(() => {
    isClosed = true;
  });
  // It may have asked for one more job before it was told to stop.
  await until(() => {
    for (const job of first.running.splice(0)) job.end();
    return isClosed;
  });
  await closing;
  const left = 5 - first.done.length;
  expect(left).toBeGreaterThan(0);
  const second = work(2);
  await second.finish(left);
});
