import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type BillingTime,
  dayCount,
  type Grid,
  gridOf,
  INTERVALS,
  type Interval,
  periodAfter,
  periodBefore,
  periodHolding,
} from '../../../src/engine/calendar/grid.ts';
import { date, instant } from './build.ts';

const anniversary = (interval: Interval, anchor: string): Grid => ({ interval, anchor: date(anchor) });
const calendar = (interval: Interval): Grid =>
  gridOf(interval, { billing_time: 'calendar', subscription_at: instant('2023-08-17T13:00') }, 'UTC');

describe('grids of periods', () => {
  test.each<[Interval, string, [string, string, number][]]>([
    [
      'monthly',
      '2024-01-31',
      [
        ['2024-01-31', '2024-02-28', 29],
        ['2024-02-29', '2024-03-30', 31],
        ['2024-03-31', '2024-04-29', 30],
        ['2024-04-30', '2024-05-30', 31],
        ['2024-05-31', '2024-06-29', 30],
        ['2024-06-30', '2024-07-30', 31],
      ],
    ],
    [
      'monthly',
      '2023-01-31',
      [
        ['2023-01-31', '2023-02-27', 28],
        ['2023-02-28', '2023-03-30', 31],
        ['2023-03-31', '2023-04-29', 30],
      ],
    ],
    [
      'monthly',
      '2024-01-30',
      [
        ['2024-01-30', '2024-02-28', 30],
        ['2024-02-29', '2024-03-29', 30],
        ['2024-03-30', '2024-04-29', 31],
        ['2024-04-30', '2024-05-29', 30],
      ],
    ],
    [
      'monthly',
      '2023-01-29',
      [
        ['2023-01-29', '2023-02-27', 30],
        ['2023-02-28', '2023-03-28', 29],
        ['2023-03-29', '2023-04-28', 31],
      ],
    ],
    [
      'quarterly',
      '2023-11-30',
      [
        ['2023-11-30', '2024-02-28', 91],
        ['2024-02-29', '2024-05-29', 91],
        ['2024-05-30', '2024-08-29', 92],
        ['2024-08-30', '2024-11-29', 92],
        ['2024-11-30', '2025-02-27', 90],
      ],
    ],
    [
      'quarterly',
      '2023-08-31',
      [
        ['2023-08-31', '2023-11-29', 91],
        ['2023-11-30', '2024-02-28', 91],
        ['2024-02-29', '2024-05-30', 92],
        ['2024-05-31', '2024-08-30', 92],
      ],
    ],
    [
      'semiannual',
      '2023-08-31',
      [
        ['2023-08-31', '2024-02-28', 182],
        ['2024-02-29', '2024-08-30', 184],
        ['2024-08-31', '2025-02-27', 181],
      ],
    ],
    [
      'yearly',
      '2024-02-29',
      [
        ['2024-02-29', '2025-02-27', 365],
        ['2025-02-28', '2026-02-27', 365],
        ['2026-02-28', '2027-02-27', 365],
        ['2027-02-28', '2028-02-28', 366],
        ['2028-02-29', '2029-02-27', 365],
      ],
    ],
    [
      'weekly',
      '2023-05-17',
      [
        ['2023-05-17', '2023-05-23', 7],
        ['2023-05-24', '2023-05-30', 7],
        ['2023-05-31', '2023-06-06', 7],
      ],
    ],
  ])('%s anniversaries of %s follow the anchor, clamped to the month', (interval, anchor, expected) => {
    const grid = anniversary(interval, anchor);
    let range = periodHolding(grid, date(anchor));
    const rows = expected.map(() => {
      const row = [range.first.toString(), range.last.toString(), dayCount(range)];
      range = periodAfter(grid, range);
      return row;
    });
    expect(rows).toEqual(expected);
  });

  test.each<[Interval, string, string]>([
    ['weekly', '2024-05-13', '2024-05-19'],
    ['monthly', '2024-05-01', '2024-05-31'],
    ['quarterly', '2024-04-01', '2024-06-30'],
    ['semiannual', '2024-01-01', '2024-06-30'],
    ['yearly', '2024-01-01', '2024-12-31'],
  ])('the calendar %s period that holds Wednesday 15 May 2024 is %s to %s', (interval, first, last) => {
    const range = periodHolding(calendar(interval), date('2024-05-15'));
    expect([range.first.toString(), range.last.toString()]).toEqual([first, last]);
  });

  test('an anniversary grid is anchored on the local date', () => {
    const at = { billing_time: 'anniversary' as BillingTime, subscription_at: instant('2024-01-31T01:00Z') };
    expect(gridOf('monthly', at, 'America/New_York').anchor.toString()).toBe('2024-01-30');
  });

  test('periods tile the days without gap or overlap, before and after the anchor', () => {
    const day = fc.integer({ min: 0, max: 36_500 }).map((days) => date('1990-01-01').add({ days }));
    fc.assert(
      fc.property(fc.constantFrom(...INTERVALS), day, day, (interval, anchor, held) => {
        const grid = { interval, anchor };
        const range = periodHolding(grid, held);
        const days = dayCount(range);
        expect(held.since(range.first).days).toBeGreaterThanOrEqual(0);
        expect(range.last.since(held).days).toBeGreaterThanOrEqual(0);
        expect(periodHolding(grid, range.first)).toEqual(range);
        expect(periodHolding(grid, range.last)).toEqual(range);
        expect(periodAfter(grid, range).first.equals(range.last.add({ days: 1 }))).toBe(true);
        expect(periodBefore(grid, range).last.equals(range.first.subtract({ days: 1 }))).toBe(true);
        expect(days).toBeGreaterThanOrEqual(
          { weekly: 7, monthly: 28, quarterly: 89, semiannual: 181, yearly: 365 }[interval],
        );
        expect(days).toBeLessThanOrEqual(
          { weekly: 7, monthly: 31, quarterly: 92, semiannual: 184, yearly: 366 }[interval],
        );
        expect(periodHolding(grid, anchor).first.equals(anchor)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
