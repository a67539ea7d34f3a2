import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { periodThrough } from '../../../src/engine/calendar/period.ts';
import { bucketOfEvents } from '../../../src/engine/metrics/bucket-of-events.ts';
import { combineWeightedSums, weightedSum } from '../../../src/engine/metrics/weighted-sum.ts';
import { decimal, ZERO } from '../../../src/engine/money/decimal.ts';
import { instant } from '../calendar/build.ts';
import { between, values } from './build.ts';

const AUGUST = { period: between('2023-08-01', '2023-09-01'), periodDays: 31, initial: ZERO };
const EXAMPLE_A = values(
  '2023-08-01T00:00 +2',
  '2023-08-01T01:00 +3',
  '2023-08-01T01:30 +1',
  '2023-08-01T02:00 -4',
  '2023-08-01T04:00 -2',
  '2023-08-01T05:00 +10',
  '2023-08-01T05:30 -10',
);
const MARCH = { period: between('2023-03-05', '2023-04-01'), periodDays: 31, initial: ZERO };
const APRIL = { period: between('2023-04-01', '2023-05-01'), periodDays: 30, initial: decimal(2500) };

describe('weighted sum (aggregation.md#weighted-sum)', () => {
  test('a weighted sum weighs each change by the time that is left (golden case 79)', () => {
    const { units, totalUnits, eventsCount } = weightedSum(EXAMPLE_A, AUGUST);
    expect([units.toFixed(), totalUnits.toFixed(), eventsCount]).toEqual(['0.02217741935483870968', '0', 7]);
  });

  test('a weighted sum starts from a carried total of 1000 (example A)', () => {
    const { units, totalUnits } = weightedSum(EXAMPLE_A, { ...AUGUST, initial: decimal(1000) });
    expect([units.toFixed(), totalUnits.toFixed()]).toEqual(['1000.02217741935483870968', '1000']);
  });

  test('the weighted sum of example B is computed for March (golden case 80)', () => {
    const { units, totalUnits } = weightedSum(values('2023-03-05 +2500'), MARCH);
    expect([units.toFixed(), totalUnits.toFixed()]).toEqual(['2177.41935483870967741936', '2500']);
  });

  test('the weighted sum of example B continues in April from the total of March (golden case 81)', () => {
    const { units, totalUnits } = weightedSum(values('2023-04-04 -2000', '2023-04-06 -200'), APRIL);
    expect([units.toFixed(), totalUnits.toFixed()]).toEqual(['533.33333333333333333334', '300']);
  });

  test('a weighted sum without events is zero', () => {
    expect(weightedSum([], AUGUST).units.isZero()).toBe(true);
    expect(combineWeightedSums([], AUGUST).units.isZero()).toBe(true);
  });

  test('a weighted sum ends at the next whole second and starts at its millisecond', () => {
    const period = periodThrough(instant('2023-08-01T00:00:00.000999'), instant('2023-08-01T00:00:09.2'));
    const terms = { period, periodDays: 1, initial: decimal(86_400) };
    expect(weightedSum([], terms).units.toFixed()).toBe('10');
  });

  test('a weighted sum ends at a termination on a whole second', () => {
    const period = periodThrough(instant('2023-08-01'), instant('2023-08-01T12:00'));
    expect(weightedSum([], { period, periodDays: 1, initial: decimal(2) }).units.toFixed()).toBe('1');
  });

  test('buckets give the weighted sum of the example in rollups.md#buckets', () => {
    const bucket = (hour: string, sum: string, moment: string) => ({
      hour: instant(hour),
      sum,
      moment,
      valid_count: 1,
    });
    const buckets = [bucket('2023-08-01T00:00', '2', '0'), bucket('2023-08-01T01:00', '4', '1800')];
    const terms = { period: between('2023-08-01', '2023-08-01T02:00'), periodDays: 1, initial: ZERO };
    expect(combineWeightedSums(buckets, terms).units.toFixed()).toBe('0.3125'); // 27000 of 86400
  });

  const moments = fc.array(
    fc.record({ second: fc.nat(31 * 86_400 - 1), micro: fc.nat(999_999), value: fc.integer({ min: -1e6, max: 1e6 }) }),
    { maxLength: 20 },
  );

  test('buckets in any order equal the sum over events to the last digit', () => {
    fc.assert(
      fc.property(moments, fc.integer({ min: 0, max: 100 }), (given, initial) => {
        const events = given
          .toSorted((a, b) => a.second - b.second || a.micro - b.micro)
          .map(({ second, micro, value }, index) => ({
            id: String(index),
            created_at: instant('2023-08-01'),
            timestamp: instant('2023-08-01').add({ seconds: second, microseconds: micro }),
            value: decimal(value).div(100),
          }));
        const hourOf = ({ timestamp }: (typeof events)[number]) =>
          timestamp.round({ smallestUnit: 'hour', roundingMode: 'floor' }).toString();
        const buckets = [...new Set(events.map(hourOf))].map((hour) =>
          bucketOfEvents(
            events.filter((event) => hourOf(event) === hour),
            Temporal.Instant.from(hour),
          ),
        );
        const terms = { ...AUGUST, initial: decimal(initial) };
        const walked = weightedSum(events, terms);
        for (const order of [buckets, buckets.toReversed()]) {
          const combined = combineWeightedSums(order, terms);
          expect(combined.units.toFixed()).toBe(walked.units.toFixed());
          expect(combined.totalUnits.toFixed()).toBe(walked.totalUnits.toFixed());
          expect(combined.eventsCount).toBe(walked.eventsCount);
        }
      }),
      { numRuns: 50 },
    );
  });

  test('a value held for the full period weighs its own amount (golden-usage.md#invariants (5))', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 20n }), (cents) => {
        const value = decimal(String(cents)).div(100);
        expect(weightedSum([{ timestamp: AUGUST.period.from, value }], AUGUST).units.toFixed()).toBe(value.toFixed());
        expect(weightedSum([], { ...AUGUST, initial: value }).units.toFixed()).toBe(value.toFixed());
      }),
    );
  });
});
