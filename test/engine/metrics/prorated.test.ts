import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { combineProratedSums, holdsMidnight, proratedSum } from '../../../src/engine/metrics/prorated-sum.ts';
import { proratedUniqueCount } from '../../../src/engine/metrics/prorated-unique-count.ts';
import type { Proration } from '../../../src/engine/metrics/proration.ts';
import { decimal } from '../../../src/engine/money/decimal.ts';
import { instant } from '../calendar/build.ts';
import { members, NOTHING_CARRIED, proration, values } from './build.ts';

const MAY = proration('2024-05-01', '2024-05-31');
const carried = (units: string) => ({ units: decimal(units), eventsCount: 1 });

describe('prorated sum (aggregation.md#prorated-sum)', () => {
  test.each<[string, string, string[], Proration, string, string]>([
    [
      '5 units carried over and 24 on the 26th (golden case 82)',
      '5',
      ['2024-05-26T10:00 +12', '2024-05-26T20:00 +12'],
      MAY,
      '9.64517',
      '29',
    ],
    ['events of the last day count for one day', '0', ['2024-05-31 +8', '2024-05-31T23:59 +12'], MAY, '0.64517', '20'],
    ['a start on the 15th leaves 17 days', '5', [], proration('2024-05-15T13:00', '2024-05-31'), '2.74194', '5'],
    [
      'an event of 6 February counts 24 of 29 days',
      '0',
      ['2024-02-06 +10'],
      proration('2024-02-01', '2024-02-29', { periodDays: 29 }),
      '8.27587',
      '10',
    ],
    ['an event on the start belongs to the period', '0', ['2024-05-01 +3'], MAY, '3', '3'],
    ['units given back reduce it by the days left', '10', ['2024-05-17 -4'], MAY, '8.06452', '6'],
    [
      'the whole is not above itself',
      '2',
      ['2024-05-21 +1'],
      proration('2024-05-01', '2024-05-30', { periodDays: 30 }),
      '2.33334',
      '3',
    ],
  ])('a prorated sum is weighted by days: %s', (_case, before, events, terms, units, full) => {
    const result = proratedSum(before === '0' ? NOTHING_CARRIED : carried(before), values(...events), terms);
    expect([result.units.toFixed(), result.fullUnits.toFixed()]).toEqual([units, full]);
  });

  test('the day of an upgrade belongs to the new subscription', () => {
    const old = proration('2023-10-01', '2023-10-18T09:00', { isUpgraded: true });
    const { units } = proratedSum(carried('75'), values('2023-10-17T12:00 +20', '2023-10-18T08:00 +7'), old);
    expect(units.toFixed()).toBe('41.7742'); // 75 × 17 ÷ 31 + 20 × 1 ÷ 31
  });

  test('prorated days are those of the time zone', () => {
    const kolkata = {
      ...MAY,
      zone: 'Asia/Kolkata',
      period: { from: instant('2024-04-30T18:30'), to: instant('2024-05-31T18:30') },
    };
    const { units } = proratedSum(NOTHING_CARRIED, values('2024-05-30T18:29 +31', '2024-05-30T18:31 +31'), kolkata);
    expect(units.toFixed()).toBe('3'); // 2 days and 1 day
    expect(holdsMidnight(instant('2024-05-30T18:00'), 'Asia/Kolkata')).toBe(true);
    expect(holdsMidnight(instant('2024-05-30T19:00'), 'Asia/Kolkata')).toBe(false);
    expect(holdsMidnight(instant('2024-05-30T22:00'), 'Europe/Paris')).toBe(false);
  });

  test('hours in any order give the same prorated units as their events', () => {
    const event = fc.record({ second: fc.nat(31 * 86_400 - 1), value: fc.integer({ min: -500, max: 500 }) });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 15 }), (given) => {
        const events = given
          .toSorted((a, b) => a.second - b.second)
          .map(({ second, value }) => ({ timestamp: MAY.period.from.add({ seconds: second }), value: decimal(value) }));
        const hours = events.map(({ timestamp, value }) => ({
          hour: timestamp.round({ smallestUnit: 'hour', roundingMode: 'floor' }),
          sum: value,
          valid_count: 1,
        }));
        const { moves, ...scanned } = proratedSum(carried('7'), events, MAY);
        expect(combineProratedSums(carried('7'), hours.toReversed(), MAY)).toEqual(scanned);
        // Written independently: tenths of a millionth, in whole numbers.
        const weighed = given.reduce(
          (total, { second, value }) => total + value * (31 - Math.floor(second / 86_400)),
          7 * 31,
        );
        expect(scanned.units.toFixed(5)).toBe(
          decimal(Math.ceil((weighed * 100_000) / 31))
            .div(100_000)
            .toFixed(5),
        );
        expect(moves.list).toHaveLength(given.length + 1);
      }),
      { numRuns: 50 },
    );
  });

  test('an event on the first day weighs its whole value, on the last day one day of it (golden-usage.md#invariants (6))', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e6, max: 1e6 }), (hundredths) => {
        const value = decimal(hundredths).div(100);
        const on = (day: string) => proratedSum(NOTHING_CARRIED, [{ timestamp: instant(day), value }], MAY).units;
        expect(on('2024-05-01T17:00').toFixed(5)).toBe(value.toFixed(5));
        expect(on('2024-05-31T17:00').toFixed(5)).toBe(
          decimal(Math.ceil((hundredths * 1000) / 31))
            .div(100_000)
            .toFixed(5),
        );
      }),
    );
  });
});

describe('prorated unique count (aggregation.md#prorated-unique-count)', () => {
  test.each<[string, string[], Proration, string, number]>([
    ['present all period', ['2024-04-10 add A'], MAY, '1', 1],
    ['another added on day 11 (golden case 83)', ['2024-04-10 add A', '2024-05-11 add B'], MAY, '1.67742', 2],
    ['added on day 16', ['2024-05-16T22:00 add A'], MAY, '0.51613', 1],
    ['present, removed on day 16', ['2024-04-10 add A', '2024-05-16T03:00 remove A'], MAY, '0.51613', 0],
    ['present, removed on the last day', ['2024-04-10 add A', '2024-05-31T01:00 remove A'], MAY, '1', 0],
    ['added day 2, removed day 30', ['2024-05-02 add A', '2024-05-30 remove A'], MAY, '0.93549', 0],
    [
      'added and removed several times on day 1',
      ['2024-05-01T01:00 add A', '2024-05-01T02:00 remove A', '2024-05-01T03:00 add A', '2024-05-01T04:00 remove A'],
      MAY,
      '0.03226',
      0,
    ],
    [
      'added and removed on days 1, 6 and 11',
      [
        '2024-05-01T01:00 add A',
        '2024-05-01T02:00 remove A',
        '2024-05-06T01:00 add A',
        '2024-05-06T02:00 remove A',
        '2024-05-11T01:00 add A',
        '2024-05-11T02:00 remove A',
      ],
      MAY,
      '0.09678',
      0,
    ],
    ['terminated on day 16', ['2024-04-10 add A'], proration('2024-05-01', '2024-05-16T10:00'), '0.51613', 1],
    [
      'upgraded on day 16',
      ['2024-04-10 add A'],
      proration('2024-05-01', '2024-05-16T10:00', { isUpgraded: true }),
      '0.48388',
      1,
    ],
    [
      'upgraded on the day of its add',
      ['2024-05-16T09:00 add A'],
      proration('2024-05-01', '2024-05-16T10:00', { isUpgraded: true }),
      '0',
      1,
    ],
    ['removed in an earlier period', ['2024-04-10 add A', '2024-04-20 remove A'], MAY, '0', 0],
    ['added and removed twice changes nothing', ['2024-05-16 add A', '2024-05-17 add A'], MAY, '0.51613', 1],
    ['a remove of what is not there', ['2024-05-16 remove A'], MAY, '0', 0],
    ['no events', [], MAY, '0', 0],
  ])('a prorated unique count is weighted by days: %s', (_case, events, terms, units, full) => {
    const result = proratedUniqueCount(members(...events), terms);
    expect([result.units.toFixed(), result.fullUnits.toNumber(), result.eventsCount]).toEqual([units, full, full]);
  });

  test('moves of a prorated unique count leave out what ended before the period', () => {
    const events = members(
      '2024-04-05 add A',
      '2024-04-06 add B',
      '2024-04-25 remove B',
      '2024-05-16 remove A',
      '2024-05-31 add C',
    );
    const { moves } = proratedUniqueCount(events, MAY);
    expect(moves.list.map(({ full, weighed }) => [full.toNumber(), weighed.toNumber()])).toEqual([
      [1, 16],
      [-1, 0],
      [1, 1],
    ]);
  });

  test('every unique value counts the days that it touched', () => {
    const event = fc.record({
      hour: fc.integer({ min: -72, max: 31 * 24 - 1 }),
      value: fc.constantFrom('A', 'B'),
      operation: fc.constantFrom('add' as const, 'remove' as const),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (given) => {
        const ordered = given.toSorted((a, b) => a.hour - b.hour);
        // Written independently: day by day, whether the value was in use at any instant of it.
        let touched = 0;
        for (const value of ['A', 'B'])
          for (let day = 0; day < 31; day += 1) {
            const before = ordered.filter((each) => each.value === value && each.hour < day * 24).at(-1);
            const during = ordered.filter((each) => each.value === value && Math.floor(each.hour / 24) === day);
            if (before?.operation === 'add' || during.some(({ operation }) => operation === 'add')) touched += 1;
          }
        const events = ordered.map(({ hour, ...rest }) => ({
          ...rest,
          timestamp: MAY.period.from.add({ hours: hour }),
        }));
        expect(proratedUniqueCount(events, MAY).units.toFixed(5)).toBe(
          decimal(Math.ceil((touched * 100_000) / 31))
            .div(100_000)
            .toFixed(5),
        );
      }),
    );
  });
});
