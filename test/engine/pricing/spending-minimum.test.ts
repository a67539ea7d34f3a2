import { expect, test } from 'vitest';
import { cents } from '../../../src/engine/money/cents.ts';
import { decimal } from '../../../src/engine/money/decimal.ts';
import { spendingTrueUp } from '../../../src/engine/pricing/spending-minimum.ts';

test.each([
  // minimum, period, billed, used, true-up (minimums.md#true-up, minimums.md#spending-minimum)
  [1000, 31, 31, 700, 300],
  [1000, 28, 25, 800, 93],
  [1000, 31, 15, 200, 284],
  [10000, 28, 25, 7000, 1929],
  [233700, 31, 31, 1625, 232075],
])(
  'a minimum of %i over %i days, %i billed, with %i used adds %i',
  (minimum, periodDays, billedDays, used, expected) => {
    const trueUp = spendingTrueUp({
      min_amount_cents: minimum,
      periodDays,
      billedDays,
      usedCents: cents(used),
      usedPreciseCents: decimal(used),
    });
    expect(trueUp?.amountCents).toBe(expected);
  },
);

test('usage above the spending minimum adds nothing', () => {
  const trueUp = spendingTrueUp({
    min_amount_cents: 1000,
    periodDays: 31,
    billedDays: 31,
    usedCents: cents(1500),
    usedPreciseCents: decimal(1500),
  });
  expect(trueUp).toBeUndefined();
});
