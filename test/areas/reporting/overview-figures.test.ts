import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { collectionRate, windowsAt } from '../../../src/areas/reporting/overview/figures.ts';
import { cents } from '../../../src/engine/money/cents.ts';

// console-reads.md#overview.
test.each([
  [18_000, 3000, 0, '0.8571'],
  [0, 0, 0, null],
  [0, 1, 0, '0.0000'],
  [1, 0, 0, '1.0000'],
  [1, 1, 1, '0.3333'],
  [9999, 0, 10_001, '0.5000'],
  [20_001, 19_999, 0, '0.5000'],
])('succeeded %s, pending %s, failed %s are collected at the rate %s (CO15)', (succeeded, pending, failed, rate) => {
  expect(collectionRate({ succeeded: cents(succeeded), pending: cents(pending), failed: cents(failed) })).toBe(rate);
});

test.each([
  ['2024-03-31T12:00:00Z', '2024-03-01', '2024-03-31', '2024-02-01', '2024-02-29', '2024-02-29'],
  ['2024-01-01T00:00:00Z', '2024-01-01', '2024-01-01', '2023-12-01', '2023-12-01', '2023-12-31'],
  ['2023-03-30T23:59:59Z', '2023-03-01', '2023-03-30', '2023-02-01', '2023-02-28', '2023-02-28'],
])(
  'at %s the month goes from %s to %s, and the same days of the last one from %s to %s',
  (now, from, to, before, same, end) => {
    const windows = windowsAt(Temporal.Instant.from(now));
    const text = ({ from: first, to: last }: { from: Temporal.PlainDate; to: Temporal.PlainDate }) => [
      `${first}`,
      `${last}`,
    ];
    expect(text(windows.monthToDate)).toEqual([from, to]);
    expect(text(windows.sameDaysLastMonth)).toEqual([before, same]);
    expect(text(windows.lastMonth)).toEqual([before, end]);
  },
);

test('a rate is never below 0 or above 1', () => {
  const amount = fc.integer({ min: 0, max: 1_000_000_000 }).map(cents);
  fc.assert(
    fc.property(amount, amount, amount, (succeeded, pending, failed) => {
      const rate = collectionRate({ succeeded, pending, failed });
      if (rate === null) expect(succeeded + pending + failed).toBe(0);
      else expect(Number(rate) >= 0 && Number(rate) <= 1).toBe(true);
    }),
  );
});
