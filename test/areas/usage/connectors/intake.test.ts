import { expect, test, vi } from 'vitest';
import { createIntake, MOST_WAITING } from '../../../../src/areas/usage/connectors/intake.ts';
import type { Outcome } from '../../../../src/areas/usage/connectors/store-messages.ts';
import type { StreamMessage } from '../../../../src/platform/streams/source.ts';
import { until } from '../../../support/until.ts';

const message = (offset: number, key = 'k'): StreamMessage => ({
  position: `${key}/${offset}`,
  bytes: null,
  sourceTime: '',
  checkpoint: { key, rank: String(offset), value: {} },
});

/** An intake whose transactions end when the test says so. */
function open({ most = Number.POSITIVE_INFINITY }: { most?: number } = {}) {
  const ended = new AbortController();
  const stored: string[][] = [];
  const failures: unknown[] = [];
  const waiting: { end: () => void; fail: (error: Error) => void }[] = [];
  const read: string[][] = [];
  const intake = createIntake({
    signal: ended.signal,
    async read(messages) {
      const taken = messages.slice(0, most);
      read.push(taken.map(({ position }) => position));
      return { messages: taken, taken: taken.length };
    },
    store: ({ messages: taken }) =>
      new Promise<Outcome>((resolve, reject) => {
        waiting.push({
          end() {
            stored.push(taken.map(({ position }) => position));
            resolve({ taken: taken.length, stored: 0, replayed: 0, dead: 0, deadBytes: 0, putAside: [] });
          },
          fail: reject,
        });
      }),
    onFailure: (error) => failures.push(error),
    onStored() {},
  });
  const next = () => until(() => waiting.shift());
  return { intake, read, stored, failures, ended, next };
}

test('messages that come while a transaction runs share the next one', async () => {
  const { intake, stored, next } = open();
  const first = intake.deliver([message(1)]);
  const others = [intake.deliver([message(2), message(3)]), intake.deliver([message(1, 'other')])];
  (await next()).end();
  await first;
  (await next()).end();
  await Promise.all(others);
  expect(stored).toEqual([['k/1'], ['k/2', 'k/3', 'other/1']]);
  expect(intake.waiting()).toBe(0);
});

test('a delivery ends when its last message is stored, however many transactions that takes', async () => {
  const { intake, stored, next } = open({ most: 2 });
  const delivered = vi.fn();
  const all = intake.deliver([message(1), message(2), message(3)]).then(delivered);
  (await next()).end();
  const last = await next();
  expect(delivered).not.toHaveBeenCalled();
  last.end();
  await all;
  expect(stored).toEqual([['k/1', 'k/2'], ['k/3']]);
});

test('a failed transaction is tried again with the same messages, and never given up', async () => {
  const { intake, stored, failures, next } = open();
  const delivered = intake.deliver([message(1)]);
  (await next()).fail(new Error('away'));
  (await next()).end();
  await delivered;
  expect(stored).toEqual([['k/1']]);
  expect(failures).toHaveLength(1);
});

test('what is no longer wanted is left out; what is in a transaction ends there', async () => {
  const { intake, stored, next } = open();
  const leaving = new AbortController();
  const first = intake.deliver([message(1)], leaving.signal);
  const second = intake.deliver([message(2)], leaving.signal);
  const other = intake.deliver([message(1, 'other')]);
  leaving.abort(new Error('rebalance'));
  await expect(first).rejects.toThrow('rebalance');
  await expect(second).rejects.toThrow('rebalance');
  (await next()).end();
  (await next()).end();
  await other;
  expect(stored).toEqual([['k/1'], ['other/1']]);
});

const thousand = (from: number, key = 'k') => Array.from({ length: 1000 }, (_, index) => message(from + index, key));

test('while a transaction runs the next ones are read, once they fill a transaction', async () => {
  const { intake, read, stored, next } = open();
  const first = intake.deliver([message(0)]);
  const open1 = await next();
  const second = intake.deliver(thousand(1).slice(0, 600));
  expect(read).toEqual([['k/0']]);
  const third = intake.deliver(thousand(601));
  expect(read.map((some) => [some[0], some.length])).toEqual([
    ['k/0', 1],
    ['k/1', 1000],
  ]);
  open1.end();
  await first;
  (await next()).end();
  await second;
  (await next()).end();
  await third;
  expect(stored.map((some) => [some[0], some.length])).toEqual([
    ['k/0', 1],
    ['k/1', 1000],
    ['k/1001', 600],
  ]);
  expect(read).toEqual(stored);
});

test('what was read while a transaction ran, and is no longer wanted, is not stored', async () => {
  const { intake, stored, next } = open();
  const leaving = new AbortController();
  const first = intake.deliver([message(0)]);
  const open1 = await next();
  const left = intake.deliver(thousand(1), leaving.signal);
  const other = intake.deliver([message(1, 'other')]);
  leaving.abort(new Error('rebalance'));
  await expect(left).rejects.toThrow('rebalance');
  open1.end();
  await first;
  (await next()).end();
  await other;
  expect(stored).toEqual([['k/0'], ['other/1']]);
});

test('a transaction that fails, and those behind it, keep their order', async () => {
  const { intake, stored, next } = open();
  const delivered = [thousand(0), thousand(1000)].map((messages) => intake.deliver(messages));
  (await next()).fail(new Error('away'));
  (await next()).end();
  (await next()).end();
  await Promise.all(delivered);
  expect(stored.map((some) => some[0])).toEqual(['k/0', 'k/1000']);
});

test('what cannot be read waits as what cannot be stored', async () => {
  const failures: unknown[] = [];
  let tries = 0;
  const intake = createIntake({
    signal: new AbortController().signal,
    async read(messages) {
      tries += 1;
      if (tries === 1) throw new Error('away');
      return { taken: messages.length };
    },
    store: async ({ taken }) => ({ taken, stored: 0, replayed: 0, dead: 0, deadBytes: 0, putAside: [] }),
    onFailure: (error) => failures.push(error),
    onStored() {},
  });
  await intake.deliver([message(1)]);
  expect(failures).toHaveLength(1);
});

test('a source waits while ten thousand messages do', async () => {
  const { intake, next } = open();
  const many = Array.from({ length: MOST_WAITING }, (_, offset) => message(offset));
  const delivered = intake.deliver(many);
  const room = vi.fn();
  const waits = intake.room().then(room);
  const first = await next();
  expect(room).not.toHaveBeenCalled();
  first.end();
  await waits;
  for (let stored = 1000; stored < MOST_WAITING; stored += 1000) (await next()).end();
  await delivered;
});

/** Messages that count how often anybody asks how many they are. */
function watched(messages: StreamMessage[]) {
  const asked = { times: 0 };
  const proxy = new Proxy(messages, {
    get(target, name) {
      if (name === 'length') asked.times += 1;
      return Reflect.get(target, name);
    },
  });
  return { proxy, asked };
}

test('how many messages wait is known, and not added up of all deliveries at each of them', async () => {
  const { intake, next } = open();
  const { proxy, asked } = watched([message(0)]);
  const first = intake.deliver(proxy);
  const open1 = await next();
  asked.times = 0;
  const others = Array.from({ length: 2000 }, (_, index) => intake.deliver([message(index + 1)]));
  expect(intake.waiting()).toBe(2001);
  expect(asked.times).toBeLessThan(10);
  open1.end();
  for (let stored = 0; stored < 2000; stored += 1000) (await next()).end();
  await Promise.all([first, ...others]);
  expect(intake.waiting()).toBe(0);
});

test('as many wait as are neither stored nor left, whatever comes between', async () => {
  const { intake, next } = open({ most: 3 });
  const leaving = new AbortController();
  const left = [intake.deliver(thousand(0).slice(0, 10), leaving.signal)];
  const stays = intake.deliver(thousand(100).slice(0, 4));
  expect(intake.waiting()).toBe(14);
  (await next()).end();
  await until(() => intake.waiting() === 11);
  (await next()).fail(new Error('away'));
  const again = await next();
  expect(intake.waiting()).toBe(11);
  leaving.abort(new Error('rebalance'));
  expect(intake.waiting()).toBe(4);
  left.push(intake.deliver([message(7)], leaving.signal));
  for (const each of left) await expect(each).rejects.toThrow('rebalance');
  again.end(); // of what has left
  await until(() => intake.waiting() === 4);
  (await next()).end();
  (await next()).end();
  await stays;
  expect(intake.waiting()).toBe(0);
});

test('at the end the open transaction is finished and the rest is left to be read again', async () => {
  const { intake, stored, ended, next } = open();
  const first = intake.deliver([message(1)]);
  const second = intake.deliver([message(2)]);
  const rejected = expect(second).rejects.toThrow('end');
  const open1 = await next();
  ended.abort(new Error('end'));
  open1.end();
  await first;
  await rejected;
  await intake.idle();
  expect(intake.waiting()).toBe(0);
  expect(stored).toEqual([['k/1']]);
  await expect(intake.deliver([message(3)])).rejects.toThrow('end');
});
