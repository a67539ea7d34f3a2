import type { ServerResponse } from 'node:http';
import { afterEach, expect, test, vi } from 'vitest';
import { openSlots } from '../../../../src/areas/messaging/deliver-webhooks/slots.ts';
import { type HookReceiver, openHookReceiver } from '../../../support/hook-receiver.ts';
import { until } from '../../../support/until.ts';
import { customers, openStage, type Stage } from './stage.ts';

let stage: Stage;
const receivers: HookReceiver[] = [];

afterEach(async () => {
  await stage.close();
  for (const receiver of receivers.splice(0)) await receiver.close();
});

async function slowReceiver(): Promise<HookReceiver> {
  const receiver = await openHookReceiver();
  receivers.push(receiver);
  receiver.react((response) => setTimeout(() => response.writeHead(200).end(), 40));
  return receiver;
}

const delivered = (endpointId: string, count: number) =>
  until(async () => {
    const rows = await stage.deliveries(endpointId);
    return rows.filter((row) => row.status === 'succeeded').length === count;
  });

test('two processes open at most eight deliveries of an endpoint at the same time and send each once', async () => {
  stage = await openStage();
  stage.work();
  stage.work();
  const organization = await stage.org();
  const receiver = await slowReceiver();
  const endpointId = await stage.endpoint(organization, receiver.url);
  await stage.emit(organization, customers(80));
  await delivered(endpointId, 80);
  expect(receiver.mostAtOnce()).toBeLessThanOrEqual(8);
  expect(receiver.hooks).toHaveLength(80);
});

test('an organization holds at most a quarter of the slots, the rest is parked, and another one is served at once', async () => {
  stage = await openStage({ CONCURRENCY_WEBHOOKS: '16' });
  stage.work();
  const organization = await stage.org();
  const silent = await openHookReceiver();
  receivers.push(silent);
  const waiting: ServerResponse[] = [];
  silent.react((response) => waiting.push(response));
  const ids = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => stage.endpoint(organization, `${silent.url}/${n}`)));
  await stage.emit(organization, customers(1));
  // One job for each of six endpoints, four of which find a slot.
  await until(() => silent.hooks.length === 4);
  const queue = stage.producer.queue('webhooks');
  await until(async () => (await queue.getDelayedCount()) === 2);
  const other = await stage.org();
  const receiver = await slowReceiver();
  const otherId = await stage.endpoint(other, receiver.url);
  await stage.emit(other, customers(1));
  await delivered(otherId, 1);
  expect(silent.hooks).toHaveLength(4);
  silent.react(200);
  for (const response of waiting) response.writeHead(200).end();
  for (const id of ids) await delivered(id, 1);
  expect(silent.hooks).toHaveLength(6);
});

test('a delivery in flight is given to no other job except to a rerun of the same job', async () => {
  stage = await openStage();
  const options = { prefix: stage.config.REDIS_PREFIX, attemptMs: 1000 };
  const slots = openSlots(stage.redis, options);
  const job = (id: string) => ({ id, organizationId: 'o', endpointId: 'e' });
  const first = await slots.take(job('1'), ['a', 'b', 'c']);
  expect(first).toMatchObject({ lanes: 2, ids: ['a', 'b', 'c'] });
  expect(await slots.take(job('2'), ['b'])).toBeUndefined();
  expect(await slots.take(job('2'), ['b', 'd'])).toMatchObject({ lanes: 1, ids: ['d'] });
  expect(await slots.take(job('1'), ['a', 'b', 'c'])).toMatchObject({ lanes: 2, ids: ['a', 'b', 'c'] });
  first!.release();
  expect(await slots.take(job('3'), ['b'])).toMatchObject({ lanes: 1, ids: ['b'] });
});

test('slots that a dead process held become free by themselves', async () => {
  stage = await openStage();
  const slots = openSlots(stage.redis, { prefix: stage.config.REDIS_PREFIX, attemptMs: 1, besideMs: 5000 });
  const job = (id: string) => ({ id, organizationId: 'o', endpointId: 'e' });
  const ids = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}${index}`);
  expect(await slots.take(job('1'), ids('a', 10))).toMatchObject({ lanes: 5 });
  expect(await slots.take(job('2'), ids('b', 6))).toMatchObject({ lanes: 3 });
  expect(await slots.take(job('3'), ['c'])).toBeUndefined();
  await until(async () => (await slots.take(job('3'), ['a0'])) !== undefined);
});

test('a process that holds all lanes of an endpoint asks Redis for no more, and does again when one is free', async () => {
  stage = await openStage();
  const slots = openSlots(stage.redis, { prefix: stage.config.REDIS_PREFIX, attemptMs: 1000 });
  const asked = vi.spyOn(stage.redis as never as { takeWebhookSlots(): void }, 'takeWebhookSlots');
  const job = (id: string) => ({ id, organizationId: 'o', endpointId: 'e' });
  const ids = (name: string) => Array.from({ length: 10 }, (_, index) => `${name}${index}`);
  const first = await slots.take(job('1'), ids('a'));
  expect(first).toMatchObject({ lanes: 5 });
  expect(await slots.take(job('2'), ids('b'))).toMatchObject({ lanes: 3 });
  expect(await slots.take(job('3'), ids('c'))).toBeUndefined();
  expect(asked).toHaveBeenCalledTimes(2);
  first!.releaseLanes();
  expect(await slots.take(job('3'), ids('c'))).toMatchObject({ lanes: 5 });
  expect(asked).toHaveBeenCalledTimes(3);
  expect(await slots.take({ ...job('4'), endpointId: 'other' }, ids('d'))).toMatchObject({ lanes: 5 });
});
