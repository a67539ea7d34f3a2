import { describe, expect, test } from 'vitest';
import { proratedSum } from '../../../src/engine/metrics/prorated-sum.ts';
import { proratedUniqueCount } from '../../../src/engine/metrics/prorated-unique-count.ts';
import type { Proration } from '../../../src/engine/metrics/proration.ts';
import { decimal, decimalText, sum } from '../../../src/engine/money/decimal.ts';
import type { Properties } from '../../../src/engine/pricing/charge-model.ts';
import type { Usage } from '../../../src/engine/pricing/priced.ts';
import { usageFee } from '../../../src/engine/pricing/usage-fee.ts';
import { members, proration, values } from '../metrics/build.ts';

/** Tiers written as [to, price, flat]; each starts one above the former. */
const tiers = (...rows: [number | null, string, string][]): Properties => ({
  graduated_ranges: rows.map(([to_value, per_unit_amount, flat_amount], index) => ({
    from_value: index === 0 ? 0 : rows[index - 1]![0]! + 1,
    to_value,
    per_unit_amount,
    flat_amount,
  })),
});
const fee = (properties: Properties, usage: Usage) =>
  usageFee({
    charge_model: 'graduated',
    properties,
    usage,
    metric: { rounding_function: null, rounding_precision: null },
    exponent: 2,
  });
const shown = (properties: Properties, usage: Usage) => {
  const { units, amountCents } = fee(properties, usage);
  return [decimalText(units), amountCents];
};
const carry = (units: number) => ({ units: decimal(units), eventsCount: 1 });

describe('recurring sum in three tiers (golden-usage.md#prorated-graduated)', () => {
  const THREE = tiers([5, '10', '100'], [15, '5', '50'], [null, '2', '0']);
  const SEPTEMBER = proration('2023-09-01', '2023-09-30', { periodDays: 30 });
  const OCTOBER = proration('2023-10-01', '2023-10-31');
  const EVENTS = [
    '2023-09-10 +2',
    '2023-09-16 +5',
    '2023-09-20 -6',
    '2023-09-25 +10',
    '2023-09-26 +4',
    '2023-09-30 +60',
  ];

  test.each<[string, number, string[], Proration, string, number]>([
    ['61', 0, EVENTS.slice(0, 1), SEPTEMBER, '2.0', 11400],
    ['62', 0, EVENTS.slice(0, 2), SEPTEMBER, '7.0', 18400],
    ['63', 0, EVENTS.slice(0, 3), SEPTEMBER, '1.0', 16567],
    ['64', 0, EVENTS.slice(0, 4), SEPTEMBER, '11.0', 17967],
    ['65', 0, EVENTS.slice(0, 5), SEPTEMBER, '15.0', 18300],
    ['66', 0, EVENTS, SEPTEMBER, '75.0', 18700],
    ['67', 0, [], SEPTEMBER, '0.0', 10000],
    ['68', 75, [], OCTOBER, '75.0', 37000],
    ['69', 75, ['2023-10-17 +20'], OCTOBER, '95.0', 38935],
    ['70', 95, [], proration('2023-10-18T10:00', '2023-10-31'), '95.0', 26742],
    ['71', 75, ['2023-10-17 +20'], proration('2023-10-01', '2023-10-18T10:00', { isUpgraded: true }), '95.0', 27194],
  ])(
    'golden case %s: a prorated sum of %s units carried over and %j is priced in three tiers',
    (_case, carried, events, terms, units, cents) => {
      expect(shown(THREE, proratedSum(carry(carried), values(...events), terms))).toEqual([units, cents]);
    },
  );

  test.each<[string, Properties, number, string[], Proration, number]>([
    [
      '6 units for a full month',
      tiers([5, '0', '0'], [null, '10', '0']),
      6,
      [],
      proration('2023-12-01', '2023-12-31'),
      1000,
    ],
    [
      '6 units and one more on the 7th',
      tiers([5, '0', '0'], [null, '10', '0']),
      6,
      ['2023-12-07 +1'],
      proration('2023-12-01', '2023-12-31'),
      1806,
    ],
    [
      '6 units and one more on the day of the termination',
      tiers([5, '0', '0'], [null, '10', '0']),
      6,
      ['2023-12-07 +1'],
      proration('2023-12-01', '2023-12-07T18:00'),
      258,
    ],
    [
      '10 units for a full month',
      tiers([5, '0', '0'], [null, '12', '0']),
      10,
      [],
      proration('2024-01-01', '2024-01-31'),
      6000,
    ],
    [
      '10 units and 2 more on January 6',
      tiers([5, '0', '0'], [null, '12', '0']),
      10,
      ['2024-01-06 +2'],
      proration('2024-01-01', '2024-01-31'),
      8013,
    ],
  ])('a prorated sum with units carried over is priced: %s', (_case, properties, carried, events, terms, cents) => {
    expect(fee(properties, proratedSum(carry(carried), values(...events), terms)).amountCents).toBe(cents);
  });

  test('negative units are compensated before a paid tier is reached', () => {
    const properties = tiers([2, '0', '0'], [null, '150', '0']);
    const events = values('2026-05-09 +1', '2026-05-09 +1', '2026-05-09 +1', '2026-05-09 +1');
    expect(shown(properties, proratedSum(carry(-3), events, proration('2026-05-08', '2026-06-07')))).toEqual([
      '1.0',
      0,
    ]);
  });

  test('units above the free tier cost by days', () => {
    const properties = tiers([2, '0', '0'], [null, '150', '0']);
    const events = values('2026-05-23 +1', '2026-05-23 +1');
    expect(shown(properties, proratedSum(carry(3), events, proration('2026-05-08', '2026-06-07')))).toEqual([
      '5.0',
      30484,
    ]);
  });
});

describe('lists of full and prorated values (golden-usage.md#prorated-graduated)', () => {
  const TWO = tiers([5, '10', '100'], [null, '5', '50']);

  test.each([
    ['72', [5, 5, 10, -6], ['3.5', '2.66667', '2', '-2.2'], 19733],
    ['73', [2, 5, 10, -6], ['1.4', '2.66667', '2', '-2.2'], 18433],
    ['74', [1, 4, 1, -5, -1], ['0.7097', '1.54839', '0.2258', '-0.80645', '-0.0645'], 16581],
    ['75', [5, -2], ['3.5', '-1'], 12500],
    ['76', [4, 2, -3], ['2.8', '1', '-0.6'], 18050],
    ['77', [5, 2, -4, 10], ['3.5', '1', '-1.6', '2'], 19000],
    ['78', [5, -100], ['2', '-33.33'], 0],
    ['beside 78', [6, -6], ['2', '-2'], 10000],
  ])('golden case %s: full units %j that count as %j by days cost %s cents', (_case, full, prorated, cents) => {
    const list = full.map((value, index) => ({ full: decimal(value), weighed: decimal(prorated[index]!) }));
    const usage = {
      units: sum(list.map(({ weighed }) => weighed)),
      fullUnits: sum(list.map((move) => move.full)),
      eventsCount: full.length,
      moves: { list, divisor: 1 },
    };
    expect(fee(TWO, usage).amountCents).toBe(cents);
  });

  test('the unit price of a prorated graduated charge is per full unit', () => {
    const list = [{ full: decimal(4), weighed: decimal(2) }];
    const usage = { units: decimal(2), fullUnits: decimal(4), eventsCount: 1, moves: { list, divisor: 1 } };
    expect([fee(TWO, usage).preciseUnitAmount.toFixed(), fee(TWO, usage).amountDetails]).toEqual(['30', {}]);
  });

  test('prices of thirds of a month are exact', () => {
    const list = [1, 1, 1].map((value) => ({ full: decimal(value), weighed: decimal(10) }));
    const usage = { units: decimal(1), fullUnits: decimal(3), eventsCount: 3, moves: { list, divisor: 30 } };
    expect(fee(tiers([null, '0.005', '0']), usage).amountCents).toBe(1);
  });
});

describe('recurring unique count', () => {
  const SEPTEMBER = proration('2023-09-01', '2023-09-30', { periodDays: 30 });
  const TWO = tiers([1, '10', '100'], [null, '5', '50']);
  const EVENTS = [
    '2023-09-10 add 1111',
    '2023-09-12 remove 1111',
    '2023-09-14 add 1111',
    '2023-09-15 add 2222',
    '2023-09-16 add 2222',
    '2023-09-20 add 3333',
    '2023-10-17 add 4444',
  ];

  test.each<[number, Proration, string, number]>([
    [1, SEPTEMBER, '1.0', 10700],
    [2, SEPTEMBER, '0.0', 10100],
    [3, SEPTEMBER, '1.0', 10667],
    [4, SEPTEMBER, '2.0', 15933],
    [5, SEPTEMBER, '2.0', 15933],
    [6, SEPTEMBER, '3.0', 16117],
    [6, proration('2023-10-01', '2023-10-31'), '3.0', 17000],
    [7, proration('2023-10-01', '2023-10-31'), '4.0', 17242],
    [7, proration('2023-11-01', '2023-11-30', { periodDays: 30 }), '4.0', 17500],
  ])('a recurring unique count after %i events is priced by days', (count, terms, units, cents) => {
    expect(shown(TWO, proratedUniqueCount(members(...EVENTS.slice(0, count)), terms))).toEqual([units, cents]);
  });

  test.each([
    [1, 10710],
    [2, 11097],
    [3, 11484],
    [4, 11871],
    [5, 12258],
    [6, 17371],
  ])('%i members of October are priced by days', (count, cents) => {
    const events = [
      '2023-10-10 add 1',
      '2023-10-20T00:00 add 2',
      '2023-10-20T00:01 add 3',
      '2023-10-20T00:02 add 4',
      '2023-10-20T00:03 add 5',
      '2023-10-25 add 6',
    ];
    const usage = proratedUniqueCount(members(...events.slice(0, count)), proration('2023-10-01', '2023-10-31'));
    expect(fee(tiers([5, '10', '100'], [null, '5', '50']), usage).amountCents).toBe(cents);
  });

  test('a member removed in an earlier period takes no place in the tiers', () => {
    const events = members('2024-10-05 add u1', '2024-10-06 add u2', '2024-10-07 add u3', '2024-10-25 remove u2');
    const usage = proratedUniqueCount(events, proration('2024-11-01', '2024-11-30', { periodDays: 30 }));
    expect(shown(tiers([1, '0', '0'], [null, '10', '0']), usage)).toEqual(['2.0', 1000]);
  });
});
