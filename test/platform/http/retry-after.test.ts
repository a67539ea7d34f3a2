import { expect, test } from 'vitest';
import { realNowMs } from '../../../src/platform/clock/real-clock.ts';
import { readRetryAfterMs } from '../../../src/platform/http/retry-after.ts';

test.each<[string | string[] | undefined, number | undefined]>([
  ['7', 7000],
  [' 120 ', 120_000],
  ['0.5', 500],
  [['3', '9'], 3000],
  ['0', 0],
  ['-5', undefined],
  ['1e3', undefined],
  ['soon', undefined],
  ['', undefined],
  [[], undefined],
  [undefined, undefined],
  ['Wed, 21 Oct 2015 07:28:00 GMT', 0],
  ['2015-10-21T07:28:00Z', 0],
  ['Never, 99 Foo 2015', undefined],
  ['9'.repeat(400), 86_400_000],
  ['Fri, 31 Dec 9999 23:59:59 GMT', 86_400_000],
])('the pause of Retry-After %j is %j ms', (header, pauseMs) => {
  expect(readRetryAfterMs(header)).toBe(pauseMs);
});

test('an instant to come is the time until then, in both forms', () => {
  const at = new Date(realNowMs() + 60_000);
  for (const header of [at.toUTCString(), at.toISOString()]) {
    expect(readRetryAfterMs(header)).toBeGreaterThan(55_000);
    expect(readRetryAfterMs(header)).toBeLessThanOrEqual(60_000);
  }
});
