import { describe, expect, test } from 'vitest';
import { dayDifference, periodDays, subscriptionDays } from '../../../src/engine/calendar/day-difference.ts';
import { periodThrough } from '../../../src/engine/calendar/period.ts';
import { instant } from './build.ts';

describe('day differences', () => {
  test.each([
    ['2024-03-01T00:00', '2024-03-31T23:59:59', 'UTC', 31],
    ['2024-02-29T23:00Z', '2024-03-31T21:59:59Z', 'Europe/Paris', 31],
    ['2024-11-01T04:00Z', '2024-12-01T04:59:59Z', 'America/New_York', 30],
    ['2024-03-15T12:12', '2024-03-31T23:59:59', 'UTC', 17],
    ['2024-03-15T12:12', '2024-03-20T10:00', 'UTC', 5],
    ['2023-09-05T00:00', '2023-09-06T00:00', 'UTC', 2],
    ['2023-05-01T00:00', '2023-05-31T23:59:59', 'UTC', 31],
    ['1969-12-30T00:00', '1970-01-01T00:00', 'UTC', 3],
  ])('from %s to %s in %s are %s days', (from, last, zone, days) => {
    expect(dayDifference(instant(from), instant(last), zone)).toBe(days);
  });

  test('a period cut by a termination counts the day of its end, also at midnight', () => {
    const through = (last: string) => periodDays(periodThrough(instant('2023-09-05'), instant(last)), 'UTC');
    expect(through('2023-09-05T05:00')).toBe(1);
    expect(through('2023-09-06')).toBe(2);
    expect(through('2023-09-06T23:59:59.999999')).toBe(2);
  });

  test.each([
    ['2023-05-31T23:59:59', 'no upgrade', 31],
    ['2023-05-16T10:00', 'no upgrade', 16],
    ['2023-05-16T10:00', 'an upgrade', 15],
    ['2023-05-01T10:00', 'an upgrade', 0],
  ])('a subscription from 1 May to %s that ends with %s has %s days', (last, end, days) => {
    const period = periodThrough(instant('2023-05-01'), instant(last));
    expect(subscriptionDays(period, 'UTC', { upgraded: end === 'an upgrade' })).toBe(days);
  });
});
