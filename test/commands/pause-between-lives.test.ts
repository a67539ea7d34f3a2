import { expect, test } from 'vitest';
import { failedStartsInARow, pauseMs } from '../../src/commands/start/pause-between-lives.ts';

test.each([
  // failed before   lived      signal       failed  pause
  [0, 300, null, 1, 1_000],
  [1, 300, null, 2, 2_000],
  [4, 8_000, null, 5, 16_000],
  [9, 8_000, null, 10, 30_000],
  [5, 61_000, null, 0, 500],
  [0, 1_000, 'SIGKILL', 1, 1_000],
  [0, 8_000, 'SIGABRT', 1, 1_000],
] as const)(
  'after %i failed starts a process that ran %i ms and ended with signal %s makes their number %i',
  (before, livedMs, signal, failed, pause) => {
    expect(failedStartsInARow(before, { livedMs, signal })).toBe(failed);
    expect(pauseMs(failed)).toBe(pause);
  },
);

test('a process that runs and is killed again and again restarts after half a second each time', () => {
  let failed = 0;
  for (let kills = 0; kills < 20; kills += 1)
    failed = failedStartsInARow(failed, { livedMs: 5_000, signal: 'SIGKILL' });
  expect(pauseMs(failed)).toBe(500);
});
