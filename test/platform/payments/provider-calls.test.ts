import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { Later, openProviderCalls, TurnTooLate } from '../../../src/platform/payments/provider-calls.ts';
import { connectPatiently } from '../../../src/platform/redis/connect.ts';
import { keysOf, removeAllKeys } from '../../support/redis-keys.ts';
import { until } from '../../support/until.ts';

// Rule: provider-connections.md#many-calls.
let redis: Redis;
let callsOf: ReturnType<typeof openProviderCalls>;
let connection: string;
const prefix = `calls-${randomUUID()}`;

beforeAll(() => {
  redis = connectPatiently(inject('redisUrl'), 'test');
  callsOf = openProviderCalls(redis, { prefix, perSecond: 20 });
});
afterAll(async () => {
  await removeAllKeys(redis, prefix);
  redis.disconnect();
});
beforeEach(() => {
  connection = randomUUID();
});

/** Milliseconds that a job has to wait for its turn. */
const waitOf = async (job: string, id = connection): Promise<number> => {
  try {
    await callsOf(job).takeTurn(id);
    return 0;
  } catch (error) {
    if (error instanceof Later) return error.delayMs;
    throw error;
  }
};

test('jobs that come too early get instants of their own, 50 ms apart', async () => {
  const waits: number[] = [];
  for (let job = 0; job < 40; job += 1) waits.push(await waitOf(`job-${job}`));
  const began = waits.findIndex((wait) => wait > 0);
  expect(began).toBeGreaterThanOrEqual(5);
  const late = waits.slice(began);
  // Time passes between two questions, so the waits grow by 50 ms at most and in all by 50 ms for each of them.
  for (const [index, wait] of late.slice(1).entries()) expect(wait - late[index]!).toBeLessThanOrEqual(50);
  expect(new Set(await redis.mget(await keysOf(redis, `${prefix}:provider-calls:{${connection}}:job:*`))).size).toBe(
    late.length,
  );
});

test('a reserved instant stays the job its own, and is used once', async () => {
  for (let job = 0; job < 20; job += 1) await waitOf(`other-${job}`);
  const first = await waitOf('mine');
  expect(first).toBeGreaterThan(0);
  expect(await waitOf('mine')).toBeLessThanOrEqual(first);
  await until(async () => (await waitOf('mine')) === 0 || undefined);
  // Many at once, since a slow machine frees instants while they are asked for one by one.
  await Promise.all(Array.from({ length: 40 }, (_, job) => waitOf(`next-${job}`)));
  expect(await waitOf('mine')).toBeGreaterThan(0);
});

test('the calls of one connection do not delay those of another', async () => {
  for (let job = 0; job < 20; job += 1) await waitOf(`job-${job}`);
  expect(await waitOf('job-x', randomUUID())).toBe(0);
});

test('nobody calls a provider that has had too many calls until it takes some again', async () => {
  await callsOf('refused').holdBack(connection, 30_000);
  expect(await waitOf('another')).toBeGreaterThan(25_000);
});

test('a provider that has had too many calls is not called by those who had reserved an instant either', async () => {
  for (let job = 0; job < 30; job += 1) await waitOf(`job-${job}`);
  expect(await waitOf('job-29')).toBeLessThan(2000);
  await callsOf('refused').holdBack(connection, 30_000);
  const [first, second] = [await waitOf('job-28'), await waitOf('job-29')];
  expect(first).toBeGreaterThan(25_000);
  // They do not all call at the end of it.
  expect(second - first).toBeGreaterThan(25);
  expect(await waitOf('job-28')).toBeLessThanOrEqual(first);
});

test('who waits for an answer does not queue behind the jobs of a billing run', async () => {
  const waited = openProviderCalls(redis, { prefix, perSecond: 20, isWaited: true });
  const waitedWait = async (job: string) => {
    try {
      await waited(job).takeTurn(connection);
      return 0;
    } catch (error) {
      return (error as Later).delayMs;
    }
  };
  await Promise.all(Array.from({ length: 400 }, (_, job) => waitOf(`billing-${job}`)));
  const before = await waitOf('before');
  expect(before).toBeGreaterThan(10_000);
  expect(await waitedWait('person')).toBe(0);
  // What they call goes off the pace of the jobs.
  expect(await waitOf('after')).toBeGreaterThan(before);
  const waits = await Promise.all(Array.from({ length: 40 }, (_, job) => waitedWait(`person-${job}`)));
  expect(Math.max(...waits)).toBeGreaterThan(4000);
});

test('a provider that takes fewer calls than the setting allows gets fewer', async () => {
  const takes = async (job: string) => {
    try {
      await callsOf(job).takeTurn(connection, 2);
      return 0;
    } catch (error) {
      return (error as Later).delayMs;
    }
  };
  const waits: number[] = [];
  for (let job = 0; job < 5; job += 1) waits.push(await takes(`slow-${job}`));
  expect(waits.at(-1)!).toBeGreaterThan(1000);
});

test('pauses after refused calls are those that the provider names, else they double up to a minute, 20 times', async () => {
  const calls = callsOf(`paused-${randomUUID()}`);
  const pauses = [await calls.pauseAfterRefusal(7000)];
  for (let refusal = 1; refusal < 21; refusal += 1) pauses.push(await calls.pauseAfterRefusal(undefined));
  expect(pauses).toEqual([7000, 2000, 4000, 8000, 16_000, 32_000, ...Array(14).fill(60_000), undefined]);
});

test('a command whose turn comes later than somebody waits reserves nothing, and is told how long it would take', async () => {
  const waitedCallsOf = openProviderCalls(redis, { prefix, perSecond: 10, isWaited: true });
  const takes = (job: string) =>
    waitedCallsOf(job)
      .takeTurn(connection, 10, 4000)
      .catch((error: unknown) => error);
  const ends = await Promise.all(Array.from({ length: 40 }, (_, job) => takes(`waited-${job}`)));
  // 2.5 a second, a second ahead: some at once, ten in the four seconds that follow.
  const tooLate = ends.filter((end) => end instanceof TurnTooLate);
  expect(tooLate.length).toBeGreaterThanOrEqual(25);
  for (const { delayMs } of tooLate) {
    expect(delayMs).toBeGreaterThan(4000);
    expect(delayMs).toBeLessThanOrEqual(4400);
  }
  const reserved = await keysOf(redis, `${prefix}:provider-calls:{${connection}}:job:*`);
  expect(reserved).toHaveLength(ends.filter((end) => end instanceof Later).length);
  const waiting = await takes('one more');
  expect((waiting as { delayMs: number }).delayMs).toBeLessThanOrEqual(4400);
});
