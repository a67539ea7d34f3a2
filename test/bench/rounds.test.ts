import { describe, expect, test } from 'vitest';
import { interleave, percentile, ratioOf } from '../../bench/harness/rounds.ts';

/** Answers the values one after another. */
const series = (values: number[], calls: string[] = [], name = '') => {
  let next = 0;
  return async () => {
    calls.push(name);
    return values[next++]!;
  };
};

test('baseline and candidate are measured in turns', async () => {
  const calls: string[] = [];
  await interleave(2, { baseline: series([1, 1], calls, 'baseline'), service: series([2, 2], calls, 'service') });
  expect(calls).toEqual(['baseline', 'service', 'baseline', 'service']);
});

test('a benchmark with quiet rounds is measured once', async () => {
  const figures = await interleave(3, { baseline: series([100, 110, 105]), service: series([50, 60, 70]) });
  expect(figures).toEqual({ baseline: [100, 110, 105], service: [50, 60, 70], isNoisy: false });
});

describe('baseline rounds that differ by more than a quarter', () => {
  test('noisy rounds are measured once more', async () => {
    const figures = await interleave(2, { baseline: series([100, 200, 100, 101]), service: series([1, 2, 3, 4]) });
    expect(figures).toEqual({ baseline: [100, 101], service: [3, 4], isNoisy: false });
  });

  test('rounds that differ again are reported as noisy', async () => {
    const figures = await interleave(2, { baseline: series([100, 200, 100, 300]), service: series([1, 2, 3, 4]) });
    expect(figures.isNoisy).toBe(true);
  });
});

test('the ratio of a benchmark is the median of its rounds, with the smallest and the greatest', () => {
  expect(ratioOf([50, 90, 40], [100, 100, 100], false)).toEqual({
    median: 0.5,
    least: 0.4,
    greatest: 0.9,
    isNoisy: false,
  });
});

test.each([
  [[4, 1, 3, 2], 0.5, 2],
  [[4, 1, 3, 2], 0.99, 4],
  [[7], 0.5, 7],
])('percentile of %j at %d is %d', (values, share, expected) => {
  expect(percentile(values, share)).toBe(expected);
});
