import { expect, test } from 'vitest';
import { crossedThresholds } from '../../../src/engine/alerts/crossed-thresholds.ts';
import { decimal } from '../../../src/engine/money/decimal.ts';

const thresholds = (oneTime: number[], step: number | null) => [
  ...oneTime.map((value) => ({ code: `at-${value}`, value: decimal(value), recurring: false })),
  ...(step === null ? [] : [{ code: 'every', value: decimal(step), recurring: true }]),
];

// Golden cases of alerts.md#usage-alerts and alerts.md#evaluation, golden-money.md 89 and 91.
test.each([
  ['increasing', [10, 30, 50], 100, 8, 30, [10, 30]],
  ['increasing', [10, 30, 50], 100, 31, 60, [50]],
  ['increasing', [10, 30, 50], 100, 33, 351, [50, 150, 250, 350]],
  ['increasing', [10, 30, 50], 100, 30, 29, []],
  ['increasing', [10, 30, 50], 100, 0, 9, []],
  ['increasing', [10, 30, 50], 100, 150, 260, [250]],
  ['increasing', [], 100, 0, 150, [100]],
  ['increasing', [1500, 3000], 1000, 0, 3500, [1500, 3000]],
  ['increasing', [1500, 3000], 1000, 3500, 5500, [4000, 5000]],
  ['increasing', [50, 10], null, 0, 50, [10, 50]],
  ['decreasing', [200, 500, 800], 100, 1000, 500, [500, 800]],
  ['decreasing', [200, 500, 800], 100, 450, 100, [100, 200]],
  ['decreasing', [200, 500, 800], 100, 600, -100, [-100, 0, 100, 200, 500]],
  ['decreasing', [200, 500, 800], 100, 300, 400, []],
  ['decreasing', [], 100, 50, -150, [-100]],
] as const)(
  'an alert for %s values at %j with a step of %s: a move from %s to %s crosses %j',
  (direction, oneTime, step, previous, current, crossed) => {
    const found = crossedThresholds(direction, thresholds([...oneTime], step), {
      previous: decimal(previous),
      current: decimal(current),
    });
    expect(found.map(({ value }) => value.toNumber())).toEqual(crossed);
  },
);

test('a crossed threshold keeps its code, and a recurring step has that of the recurring threshold', () => {
  const found = crossedThresholds('increasing', thresholds([10], 5), { previous: decimal(0), current: decimal(15) });
  expect(found.map(({ code, recurring }) => [code, recurring])).toEqual([
    ['at-10', false],
    ['every', true],
  ]);
});

test('of very many crossed steps the last hundred are reported', () => {
  const found = crossedThresholds('increasing', thresholds([], 1), { previous: decimal(0), current: decimal('1e12') });
  expect(found).toHaveLength(100);
  expect(found.at(-1)!.value.toFixed()).toBe('1000000000000');
});
