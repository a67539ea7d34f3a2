import { expect, test } from 'vitest';
import { cents } from '../../../src/engine/money/cents.ts';
import { thresholdProgress } from '../../../src/engine/subscriptions/threshold-progress.ts';

const fixed = (amount_cents: number) => ({ amount_cents, recurring: false });
const every = (amount_cents: number) => ({ amount_cents, recurring: true });

// usage-reads.md#lifetime-usage
test.each([
  [[fixed(100)], 23, [[100, '0.23']]],
  [
    [fixed(100), fixed(200)],
    120,
    [
      [100, '1'],
      [200, '0.2'],
    ],
  ],
  [
    [every(200), fixed(100)],
    120,
    [
      [100, '1'],
      [300, '0.1'],
    ],
  ],
  [
    [fixed(100), every(200)],
    723,
    [
      [100, '1'],
      [300, '1'],
      [500, '1'],
      [700, '1'],
      [900, '0.115'],
    ],
  ],
  [
    [fixed(200), fixed(100), every(50)],
    40,
    [
      [100, '0.4'],
      [200, '0'],
      [250, '0'],
    ],
  ],
  [
    [every(100)],
    100,
    [
      [100, '1'],
      [200, '0'],
    ],
  ],
  [[], 100, []],
] as const)('usage thresholds passed %j at %i cents show their progress', (thresholds, total, expected) => {
  expect(
    thresholdProgress(thresholds, cents(total)).map(({ amountCents, ratio }) => [amountCents, ratio.toFixed()]),
  ).toEqual(expected);
});
