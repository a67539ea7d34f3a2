import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { progressOf } from '../../../src/areas/sandbox/test-clocks/view.ts';

const at = (instant: string) => Temporal.Instant.from(instant);
const atOrNull = (instant: string | null) => (instant === null ? null : at(instant));

// test-clocks.md#routes: whole days, and the share of the simulated time that has passed.
test.each([
  ['before the first advance', null, '2024-03-31T12:00:00Z', null, [0, 0, 0]],
  ['at the start of a day', '2024-03-31T12:00:00Z', '2024-03-31T12:00:00Z', '2024-04-01T12:00:00Z', [0, 1, 0]],
  ['at the end of the month in it', '2024-03-31T12:00:00Z', '2024-04-01T00:10:00Z', '2024-04-01T12:00:00Z', [0, 1, 50]],
  ['an hour before its end', '2024-03-31T12:00:00Z', '2024-04-01T11:00:00Z', '2024-04-01T12:00:00Z', [0, 1, 95]],
  ['at the target, in work', '2024-03-31T12:00:00Z', '2024-04-01T12:00:00Z', '2024-04-01T12:00:00Z', [1, 1, 100]],
  ['when it has ended', '2024-03-31T12:00:00Z', '2024-04-01T12:00:00Z', null, [1, 1, 100]],
  ['within an hour', '2024-03-31T12:00:00Z', '2024-03-31T12:30:00Z', '2024-03-31T13:00:00Z', [0, 1, 50]],
  ['in the example of the page', '2024-03-01T00:00:00Z', '2024-04-01T00:10:00Z', '2024-07-01T00:00:00Z', [31, 122, 25]],
])('the progress of an advance %s', (_when, from, now, target, [done, total, percent]) => {
  const clock = { started_from: atOrNull(from), frozen_time: at(now), target_time: atOrNull(target) };
  expect(progressOf(clock)).toEqual({ done, total, percent });
});
