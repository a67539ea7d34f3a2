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
  const intake = createIntake({
    signal: ended.signal,
    store: (messages) =>
      new Promise<Outcome>((resolve, reject) => {
        const taken = messages.slice(0, most);
        waiting.push({
          end() {
            stored.push(taken.map(({ position }) => position));
            resolve({ taken: taken.length, stored: 0, replayed: 0, dead: 0, putAside: [] });
          },
          fail: reject,
        });
      }),
    onFailure: (error) => failures.push(error),
    onStored() {},
  });
  const next = () => until(() => waiting.shift());
  return { intake, stored, failures, ended, next };
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
  expect(stored).toEqual([['k/1']]);
  await expect(intake.deliver([message(3)])).rejects.toThrow('end');
});
