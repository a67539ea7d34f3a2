import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { burnDown, walletPoints } from '../../../src/engine/credits/burn-down.ts';

// wallets.md#burn-down.
const times = (count: number, cents: number): number[] => Array.from({ length: count }, () => cents);

test.each([
  { available: 600, consumed: [10, 20, 30], rate: '20.00', daysLeft: 30 },
  { available: 1000, consumed: [500, ...times(14, 25)], rate: '25.00', daysLeft: 40 },
  { available: 1000, consumed: times(14, 0), rate: '0.00', daysLeft: null },
  { available: 1000, consumed: [10, 20], rate: undefined, daysLeft: null },
  { available: 0, consumed: [10, 20, 30], rate: '20.00', daysLeft: 0 },
  { available: 100, consumed: [10, 10, 11], rate: '10.33', daysLeft: 9 },
])('$available available and $consumed consumed last $daysLeft days (CO18)', ({ available, consumed, ...expected }) => {
  const { rate, daysLeft } = burnDown({ available, consumed });
  expect({ rate: rate?.toFixed(2), daysLeft }).toEqual(expected);
});

const day = (text: string) => Temporal.PlainDate.from(text);
const known = (text: string, ongoing_balance_cents: number, added_cents = 0) => ({
  day: day(text),
  balance_cents: ongoing_balance_cents,
  ongoing_balance_cents,
  added_cents,
});
const points = (from: string, to: string) =>
  walletPoints(
    [known('2026-03-01', 1000, 1000), known('2026-03-02', 900), known('2026-03-05', 1080, 500)],
    day(from),
    day(to),
  ).map((point) => [point.day.toString(), point.ongoing_balance_cents, point.added_cents, point.consumed_cents]);

test('a day without figures is as the one before, and a top-up is not taken for usage', () => {
  expect(points('2026-02-01', '2026-03-06')).toEqual([
    ['2026-03-01', 1000, 1000, 0],
    ['2026-03-02', 900, 0, 100],
    ['2026-03-03', 900, 0, 0],
    ['2026-03-04', 900, 0, 0],
    ['2026-03-05', 1080, 500, 320],
    ['2026-03-06', 1080, 0, 0],
  ]);
});

test('days before the first one asked for still give it its beginning', () => {
  expect(points('2026-03-04', '2026-03-05')).toEqual([
    ['2026-03-04', 900, 0, 0],
    ['2026-03-05', 1080, 500, 320],
  ]);
});

test('a wallet without any known day has no points', () => {
  expect(walletPoints([], day('2026-03-01'), day('2026-03-05'))).toEqual([]);
});
