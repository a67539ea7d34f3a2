import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createGatherer } from '../../../src/platform/queue/gather.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function gather() {
  const sent: [string, number[]][] = [];
  const gatherer = createGatherer<string, number>(
    async (key, items) => {
      sent.push([key, items]);
      if (key === 'failing') throw new Error('away');
    },
    { everyMs: 100, most: 3 },
  );
  return { sent, gatherer };
}

test('items of a key share a job, and each key has its own', async () => {
  const { sent, gatherer } = gather();
  gatherer.add('a', [1]);
  gatherer.add('b', [2]);
  gatherer.add('a', [3]);
  expect(sent).toEqual([]);
  await vi.advanceTimersByTimeAsync(0);
  expect(sent).toEqual([
    ['a', [1, 3]],
    ['b', [2]],
  ]);
});

test('what comes within a tenth of a second after a job waits for its end', async () => {
  const { sent, gatherer } = gather();
  gatherer.add('a', [1]);
  await vi.advanceTimersByTimeAsync(1);
  gatherer.add('a', [2]);
  await vi.advanceTimersByTimeAsync(90);
  gatherer.add('b', [3]);
  expect(sent).toEqual([['a', [1]]]);
  await vi.advanceTimersByTimeAsync(10);
  expect(sent.slice(1)).toEqual([
    ['a', [2]],
    ['b', [3]],
  ]);
});

test('a job that is full does not wait, and a later one of its key is not lost', async () => {
  const { sent, gatherer } = gather();
  gatherer.add('a', [1, 2]);
  gatherer.add('a', [3]);
  gatherer.add('a', [4]);
  expect(sent).toEqual([['a', [1, 2, 3]]]);
  await gatherer.flush();
  expect(sent.slice(1)).toEqual([['a', [4]]]);
});

test('a job that cannot be added stops no other', async () => {
  const { sent, gatherer } = gather();
  gatherer.add('failing', [1]);
  gatherer.add('a', [2]);
  await gatherer.flush();
  expect(sent.map(([key]) => key)).toEqual(['failing', 'a']);
});
