import { expect, test } from 'vitest';
import { passedThresholds } from '../../../src/engine/invoices/passed-thresholds.ts';
import { cents } from '../../../src/engine/money/cents.ts';

// Golden table of progressive-billing.md#trigger.
test.each([
  [[10, 20, 31, 40], null, [9, 31, 0], [10, 20, 31, 40]],
  [[10, 20, 31, 40], null, [11, 10, 0], [20]],
  [[10], 5, [0, 15, 0], [10, 'r']],
  [[10], 5, [11, 3, 0], []],
  [[10], 5, [11, 4, 0], ['r']],
  [[], 10, [11, 8, 0], []],
  [[], 10, [202, 8, 0], ['r']],
  [[10, 20, 31, 40], 5, [21, 24, 0], [31, 40, 'r']],
  [[10, 20, 31, 40], null, [9, 12, 10], [20]],
  [[10, 20, 31, 40], null, [30, 12, 10], []],
  [[], 10, [202, 18, 10], ['r']],
  [[10], 5, [0, 4, 9], []],
] as const)(
  'thresholds %j, every %s, with invoiced, current and billed %j, pass %j',
  (fixed, step, [invoiced, current, billed], passed) => {
    const thresholds = [
      ...fixed.map((amount_cents) => ({ amount_cents, recurring: false })),
      ...(step === null ? [] : [{ amount_cents: step, recurring: true }]),
    ];
    const found = passedThresholds(thresholds, {
      invoicedCents: cents(invoiced),
      currentCents: cents(current),
      progressivelyBilledCents: cents(billed),
    });
    expect(found.map((each) => (each.recurring ? 'r' : each.amount_cents))).toEqual(passed);
  },
);
