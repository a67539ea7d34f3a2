import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { createLog } from '../../../src/platform/log/log.ts';
import { openHeldJobs } from '../../../src/platform/queue/held-jobs.ts';
import { createProducer, type Producer } from '../../../src/platform/queue/producer.ts';
import { openShares } from '../../../src/platform/queue/shares.ts';
import { serveQueue } from '../../../src/platform/queue/worker.ts';
import { connectPatiently } from '../../../src/platform/redis/connect.ts';
import { keysOf, removeAllKeys } from '../../support/redis-keys.ts';
import { until } from '../../support/until.ts';

// Rule: queues-and-workers.md#waiting-for-a-slot. The queue `billing` holds 32 jobs of an organization.
const HELD = 32;

describe('places in a process', () => {
  const owner = (organizationId: string) => ({ organizationId, customerKey: undefined });
  const places = (slots: number, ofOrganization: number) => {
    const shares = openShares(slots);
    const held = openHeldJobs(ofOrganization, (each) =>
      each === undefined ? shares.enterUnowned() : shares.enter(each).full === undefined,
    );
    return { shares, held };
  };

  test('four organizations can fill their places before a fifth finds none', () => {
    const { held } = places(1, 2);
    expect(held.places).toBe(8);
    for (const id of ['a', 'b', 'c', 'd']) {
      expect(held.wait(owner(id), {})).toBeInstanceOf(Promise);
      expect(held.wait(owner(id), {})).toBeInstanceOf(Promise);
      expect(held.wait(owner(id), {})).toBeUndefined();
    }
    expect(held.wait(owner('e'), {})).toBeUndefined();
  });

  test('payloads of a million characters leave no further place', () => {
    const { held } = places(1, 3);
    const payload = (length: number) => ({ request: [{ body: 'x'.repeat(length) }] });
    expect(held.wait(owner('a'), payload(1_000_000))).toBeInstanceOf(Promise);
    expect(held.room(owner('a').organizationId)).toBe(2);
    expect(held.wait(owner('a'), payload(3_000_000))).toBeInstanceOf(Promise);
    expect(held.room(owner('a').organizationId)).toBe(0);
    expect(held.wait(owner('a'), {})).toBeUndefined();
    expect(held.wait(owner('b'), {})).toBeInstanceOf(Promise);
  });

  test('jobs go on in the order of their arrival, past those that cannot', async () => {
    const { shares, held } = places(2, 4);
    expect([shares.enter(owner('a')).full, shares.enterUnowned()]).toEqual([undefined, true]);
    const gone: string[] = [];
    for (const [name, of] of [
      ['a1', owner('a')],
      ['b1', owner('b')],
      ['nobody', undefined],
    ] as const)
      void held.wait(of, {})?.then((hasSlot) => gone.push(`${name} ${hasSlot}`));
    shares.leaveUnowned();
    held.letGo();
    await Promise.resolve();
    expect(gone).toEqual(['b1 true']); // one slot of two is all that a holds
    shares.leave(owner('a'));
    held.letGo();
    await Promise.resolve();
    expect(gone).toEqual(['b1 true', 'a1 true']);
    held.close();
    await Promise.resolve();
    expect(gone).toHaveLength(2); // nobody's waits for the end of others
    shares.leave(owner('a'));
    held.letGo();
    await Promise.resolve();
    expect(gone).toEqual(['b1 true', 'a1 true', 'nobody true']);
  });
});

describe('a queue that holds jobs', () => {
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

  /** A worker whose jobs run until they are ended by hand. */
  function work(slots: number) {
    const running: { organization: string; end(): void }[] = [];
    const done: string[] = [];
    const served = serveQueue(
      'billing',
      {
        async 'step.run'({ organization_id: organization, step_id: step }) {
          await new Promise<void>((resolve) => running.push({ organization, end: resolve }));
          done.push(step);
        },
        async 'periodic.work'() {},
      },
      { redis, prefix, concurrency: slots, log: createLog({ level: 'silent', process: 'test' }) },
    );
    workers.push({
      // Also after a test that failed before it ended its jobs.
      async close() {
        const ending = setInterval(() => {
          for (const job of running.splice(0)) job.end();
        }, 10);
        await served.close().finally(() => clearInterval(ending));
      },
    });
    return {
      done,
      running,
      close: served.close,
      count: (organization: string) => running.filter((job) => job.organization === organization).length,
      async finish(jobs: number) {
        await until(() => {
          for (const job of running.splice(0)) job.end();
          return done.length === jobs;
        });
      },
    };
  }
  const steps = (organization: string, count: number) =>
    Array.from({ length: count }, (_, n) => `${organization}-${n}`);
  const add = (organization: string, count: number) =>
    producer.addMany(
      'step.run',
      steps(organization, count).map((step_id) => ({ payload: { organization_id: organization, step_id } })),
    );
  const counts = () => producer.queue('billing').getJobCounts('waiting', 'active', 'delayed');
  /** How often a job was parked since the beginning. */
  const parkings = async () => {
    const entries = await redis.xrange(`{${prefix}:billing}:billing:events`, '-', '+');
    return entries.filter(([, fields]) => fields[1] === 'delayed').length;
  };

  test('jobs wait in the process for the slots of their organization, in order, and none is parked', async () => {
    const worker = work(8);
    await add('a', 4 + HELD);
    await until(async () => (await counts()).active === 4 + HELD && worker.count('a') >= 4);
    expect(worker.count('a')).toBe(4);
    expect(await counts()).toEqual({ waiting: 0, active: 4 + HELD, delayed: 0 });
    await worker.finish(4 + HELD);
    expect(worker.done).toEqual(steps('a', 4 + HELD));
    expect(await parkings()).toBe(0);
  });

  test('beyond its places jobs of an organization are parked once each, and another one runs at once', async () => {
    const worker = work(8);
    await add('a', 200);
    await until(async () => (await counts()).delayed === 200 - 4 - HELD);
    await add('b', 1);
    await until(() => worker.count('b') === 1);
    expect(worker.count('a')).toBe(4);
    await worker.finish(201);
    expect(worker.done.filter((step) => step !== 'b-0').sort()).toEqual(steps('a', 200).sort());
    expect(await parkings()).toBeLessThan((200 - 4 - HELD) * 1.1);
    await until(async () => (await keysOf(redis, `{${prefix}:*}:parked:*`)).length === 0);
  });

  test('large jobs that find no place are called when there is one, and not before', async () => {
    const worker = work(8);
    await producer.addMany(
      'step.run',
      Array.from({ length: 9 }, (_, n) => ({
        payload: { organization_id: 'a', step_id: `${n}`.padEnd(700_000, 'x') },
      })),
    );
    await until(async () => (await counts()).delayed === 3);
    const commands = async () => Number(/total_commands_processed:(\d+)/.exec(await redis.info('stats'))![1]);
    const before = await parkings();
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(await parkings()).toBe(before);
    expect(worker.count('a')).toBe(4);
    expect(await commands()).toBeGreaterThan(0);
    await worker.finish(9);
  });

  test('the jobs of customers are called from all lanes of their organization, without a look', async () => {
    const worker = work(8);
    const payloads = Array.from({ length: 200 }, (_, n) => ({
      payload: { organization_id: 'a', customer_id: `c${n % 10}`, step_id: `a-${n}` },
    }));
    await producer.addMany('step.run', payloads);
    await until(() => worker.count('a') === 4);
    const idle: number[] = [];
    while (worker.done.length < 200) {
      for (const job of worker.running.splice(0)) job.end();
      const since = performance.now();
      await until(() => worker.running.length > 0 || worker.done.length === 200, 45_000, 1);
      idle.push(performance.now() - since);
    }
    // A look, every two seconds, would be the only one to call them.
    expect(idle.filter((ms) => ms > 1000)).toEqual([]);
    expect(worker.done.sort()).toEqual(steps('a', 200).sort());
  });

  test('what a stopped process held is done by another one', async () => {
    const first = work(2);
    await add('a', 6);
    await until(async () => first.running.length > 0 && (await counts()).active === 6);
    const closing = first.close();
    first.running.splice(0)[0]!.end();
    await closing;
    expect(first.done).toEqual(['a-0']);
    const second = work(2);
    await second.finish(5);
    expect(second.done.sort()).toEqual(steps('a', 6).slice(1));
  });
});
