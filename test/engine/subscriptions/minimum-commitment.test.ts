import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { cents } from '../../../src/engine/money/cents.ts';
import { commitmentTrueUp, isOfPeriod } from '../../../src/engine/subscriptions/minimum-commitment.ts';

// Golden table of minimums.md#minimum-commitment.
test.each([
  // billed period commitment used   true-up
  [5, 7, 1_000_000, 71_429, 642_857],
  [25, 28, 1_000_000, 89_286, 803_571],
  [28, 28, 1_000_000, 100_000, 900_000],
  [56, 90, 1_000_000, 62_222, 560_000],
  [334, 365, 1_000_000, 91_507, 823_561],
  [3, 7, 1_000_000, 100_000, 328_571],
  [2, 29, 1_000_000, 3_690, 65_276],
  [1, 30, 1_000_000, 0, 33_333],
  [7, 7, 1, 100_000, 0],
])(
  'of a commitment %i of %i days over %i with %i used leave %i',
  (billedDays, periodDays, commitment, used, trueUp) => {
    expect(commitmentTrueUp(commitment, { billedDays, periodDays }, cents(used))).toBe(trueUp);
  },
);

test('a fee belongs to the period that holds the middle of its window in any zone', () => {
  const period = (from: string, to: string) => ({ from: Temporal.Instant.from(from), to: Temporal.Instant.from(to) });
  const march = period('2024-03-01T00:00:00Z', '2024-04-01T00:00:00Z');
  expect(isOfPeriod(period('2024-02-29T23:00:00Z', '2024-03-31T22:00:00Z'), march)).toBe(true);
  expect(isOfPeriod(period('2024-03-12T10:00:00Z', '2024-03-12T11:00:00Z'), march)).toBe(true);
  expect(isOfPeriod(period('2024-03-31T22:00:00Z', '2024-04-30T22:00:00Z'), march)).toBe(false);
});
