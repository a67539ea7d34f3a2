import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createFinisherNudge } from '../../../../src/areas/usage/ingest-events/nudge-finisher.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function gather() {
  const jobs: string[][] = [];
  const finisher = createFinisherNudge({
    add: async (_name, payload) => void jobs.push((payload as { batch_ids: string[] }).batch_ids),
  });
  return { jobs, finisher };
}

test('the first batch is sent to be finished after its answer, the next ones once in a tenth of a second', async () => {
  const { jobs, finisher } = gather();
  finisher.add('a');
  expect(jobs).toEqual([]);
  await vi.advanceTimersByTimeAsync(0);
  expect(jobs).toEqual([['a']]);
  for (const id of ['b', 'c']) finisher.add(id);
  await vi.advanceTimersByTimeAsync(100);
  expect(jobs).toEqual([['a'], ['b', 'c']]);
  finisher.add('d');
  await vi.advanceTimersByTimeAsync(100);
  await vi.advanceTimersByTimeAsync(100);
  expect(jobs).toEqual([['a'], ['b', 'c'], ['d']]);
  finisher.add('e');
  await vi.advanceTimersByTimeAsync(0);
  expect(jobs.at(-1)).toEqual(['e']);
});

test('fifty waiting batches are sent to be finished at once', () => {
  const { jobs, finisher } = gather();
  for (let index = 0; index <= 50; index += 1) finisher.add(`${index}`);
  expect(jobs.map((job) => job.length)).toEqual([50]);
});

test('batches that wait to be finished are sent at shutdown', async () => {
  const { jobs, finisher } = gather();
  for (const id of ['a', 'b']) finisher.add(id);
  await finisher.flush();
  expect(jobs).toEqual([['a', 'b']]);
});
