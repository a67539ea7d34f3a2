import { expect, test } from 'vitest';
import { nextAttempt } from '../../../../src/areas/messaging/deliver-webhooks/next-attempt.ts';

const SCHEDULE = [5, 300, 1800, 7200, 18_000, 36_000, 36_000];
const MIDDLE = 0.5;

test.each([
  // attempts left before, attempts left after, delay in s
  [null, 7, 5],
  [8, 7, 5],
  [7, 6, 300],
  [6, 5, 1800],
  [5, 4, 7200],
  [4, 3, 18_000],
  [3, 2, 36_000],
  [2, 1, 36_000],
  [1, 0, null],
])('with %s attempts left a failed delivery leaves %i, the next after %s s', (attemptsLeft, left, seconds) => {
  const next = nextAttempt({ schedule: SCHEDULE, attemptsLeft, retryAfterMs: undefined, random: MIDDLE });
  expect(next).toEqual({ attemptsLeft: left, delayMs: seconds === null ? null : seconds * 1000 });
});

test.each([
  [0, 240_000],
  [0.25, 270_000],
  [0.5, 300_000],
  [0.999_999_9, 360_000],
])('the jitter of retries is 20 %% either way: %d', (random, delayMs) => {
  expect(nextAttempt({ schedule: SCHEDULE, attemptsLeft: 7, retryAfterMs: undefined, random }).delayMs).toBe(delayMs);
});

test.each([
  // Retry-After in s, delay in s
  [1, 300],
  [301, 301],
  [3600, 3600],
  [86_400, 3600],
])('a Retry-After of %i s applies when it is longer, up to an hour: %i s', (asked, seconds) => {
  const next = nextAttempt({ schedule: SCHEDULE, attemptsLeft: 7, retryAfterMs: asked * 1000, random: MIDDLE });
  expect(next.delayMs).toBe(seconds * 1000);
});

test('a delivery whose retry schedule was shortened ends, and two attempts have one delay between them', () => {
  expect(nextAttempt({ schedule: [5], attemptsLeft: 7, retryAfterMs: undefined, random: MIDDLE })).toEqual({
    attemptsLeft: 1,
    delayMs: 5000,
  });
  expect(nextAttempt({ schedule: [5], attemptsLeft: 1, retryAfterMs: undefined, random: MIDDLE }).delayMs).toBeNull();
});
