import { describe, expect, test } from 'vitest';
import type { AggregationType } from '../../../src/engine/metrics/aggregation-types.ts';
import { decimal, sum } from '../../../src/engine/money/decimal.ts';
import type { Properties } from '../../../src/engine/pricing/charge-model.ts';
import { eventsNeeded, price } from '../../../src/engine/pricing/price.ts';
import type { Usage } from '../../../src/engine/pricing/priced.ts';
import { usageFee } from '../../../src/engine/pricing/usage-fee.ts';
import { validateProperties } from '../../../src/engine/pricing/validate-properties.ts';

const AS_IS = { rounding_function: null, rounding_precision: null };

/** Properties as in the golden table: F = free events, A = free total. */
const terms = (
  rate: string,
  { fixed, F, A, min, max }: { fixed?: string; F?: number; A?: string; min?: string; max?: string } = {},
): Properties => ({
  rate,
  fixed_amount: fixed ?? null,
  free_units_per_events: F ?? null,
  free_units_per_total_aggregation: A ?? null,
  per_transaction_min_amount: min ?? null,
  per_transaction_max_amount: max ?? '',
});
const summed = (...events: number[]): Usage => {
  const values = events.map((value) => decimal(value));
  return { units: sum(values), eventsCount: events.length, aggregation: 'sum_agg', values };
};
const counted = (units: number, aggregation: AggregationType = 'count_agg'): Usage => ({
  units: decimal(units),
  eventsCount: units,
  aggregation,
});
const cents = (properties: Properties, usage: Usage) =>
  usageFee({ charge_model: 'percentage', properties, usage, metric: AS_IS, exponent: 2 }).amountCents;

describe('percentage (golden-usage.md#percentage)', () => {
  test.each([
    ['golden case 49', [50, 100, 250, 400], 1115, terms('1.3', { fixed: '2', F: 3, A: '250' })],
    ['golden case 50', [50, 100, 250, 400], 720, terms('1.3', { fixed: '2', F: 3 })],
    ['golden case 51', [50, 100, 250, 400], 1840, terms('1.3', { fixed: '2' })],
    ['golden case 52', [50, 100, 250, 400], 720, terms('1.3', { fixed: '2', F: 3, A: '500' })],
    ['golden case 53', [50, 100, 250, 400], 800, terms('0', { fixed: '2' })],
    ['golden case 54', [1, 1, 1, 1], 12, terms('2.9')],
    ['golden case 55', [10, 10, 10], 0, terms('1', { fixed: '5', F: 3 })],
    ['golden case 55, then', [10, 10, 10, 10], 510, terms('1', { fixed: '5', F: 3 })],
    ['golden case 56', [4, 4, 4], 0, terms('1', { fixed: '5', A: '15' })],
    ['golden case 56, then', [4, 4, 4, 4], 501, terms('1', { fixed: '5', A: '15' })],
    ['golden case 56, then again', [4, 4, 4, 4, 10], 1011, terms('1', { fixed: '5', A: '15' })],
    ['golden case 57', [1, 1, 1], 0, terms('1', { fixed: '5', F: 3, A: '15' })],
    ['golden case 57, then', [1, 1, 1, 1], 501, terms('1', { fixed: '5', F: 3, A: '15' })],
    ['golden case 58', [10], 0, terms('1', { fixed: '5', F: 3, A: '15' })],
    ['golden case 58, then', [10, 10], 505, terms('1', { fixed: '5', F: 3, A: '15' })],
    ['golden case 58, then again', [10, 10, 10], 1015, terms('1', { fixed: '5', F: 3, A: '15' })],
    ['golden case 59', [10, 80, 10000], 1614, terms('2.99', { fixed: '0', min: '1.75', max: '12' })],
    ['golden case 59, fixed', [10, 80, 10000], 1869, terms('2.99', { fixed: '2', min: '1.75', max: '12' })],
    ['golden case 60', [10, 80, 10000], 1200, terms('2.99', { fixed: '0', F: 2, A: '0', min: '1.75', max: '12' })],
    ['no usage', [], 0, terms('1', { fixed: '5', F: 3, A: '15' })],
    ['no usage with a minimum', [], 0, terms('1', { fixed: '5', min: '2' })],
    ['events of value 0 pay no fixed amount', [0, 0], 0, terms('1', { fixed: '5' })],
  ])('a percentage charge (%s) bills events of %j with %s cents', (_case, events, expected, properties) => {
    expect(cents(properties, summed(...events))).toBe(expected);
  });

  test('an estimate of 400 units at 0.1 % is 40 cents (golden case 115)', () => {
    expect(cents(terms('0.1'), summed(400))).toBe(40);
  });

  test.each([
    ['one counted event is free where one is (golden case 96)', terms('1', { fixed: '1', F: 1 }), counted(1), 0],
    [
      'the second counted event is paid where one is free (golden case 96)',
      terms('1', { fixed: '1', F: 1 }),
      counted(2),
      101,
    ],
    ['a free total takes its part of counted units', terms('100', { A: '2.5' }), counted(4), 150],
    ['a free total leaves whole events free', terms('0', { fixed: '1', A: '2.5' }), counted(4), 200],
    ['free events are subtracted from unique values', terms('100', { F: 2 }), counted(5, 'unique_count_agg'), 300],
    ['limits hold for each counted event that is paid', terms('100', { min: '3', F: 1 }), counted(3), 600],
    ['limits hold for counted events after a free total', terms('100', { max: '0.75', A: '2.5' }), counted(4), 125],
    ['a large count needs no list', terms('0', { fixed: '0.01', max: '5' }), counted(1_000_000), 1_000_000],
    ['other aggregations have no free units', terms('100', { F: 2 }), counted(5, 'weighted_sum_agg'), 500],
    ['other aggregations are one transaction', terms('100', { max: '3' }), counted(5, 'weighted_sum_agg'), 300],
  ])('a percentage charge: %s', (_case, properties, usage, expected) => {
    expect(cents(properties, usage)).toBe(expected);
  });

  test('with limits and free units in total, the event that passes the total pays for the part above it', () => {
    const limited = terms('10', { fixed: '1', A: '25', max: '4' });
    expect(cents(limited, summed(10, 20, 100))).toBe(150 + 400); // 5 above, then the limit
    expect(cents(limited, summed(25))).toBe(100); // nothing above, and the fixed amount
    expect(cents(limited, summed(10, -5, 20, 1))).toBe(100 + 110);
  });

  test('a maximum over all events is one transaction, and the other events have the value 0', () => {
    const usage: Usage = {
      units: decimal(80),
      eventsCount: 3,
      aggregation: 'max_agg',
      values: [10, 80, 80].map((value) => decimal(value)),
    };
    expect(cents(terms('10', { min: '1' }), usage)).toBe(100 + 800 + 100);
    expect(cents(terms('10', { min: '1' }), { ...usage, units: decimal(0), eventsCount: 0, values: [] })).toBe(0);
  });

  test('rounding by the metric does not affect transactions', () => {
    const fee = usageFee({
      charge_model: 'percentage',
      properties: terms('10', { min: '0.01' }),
      usage: {
        units: decimal('2.4'),
        eventsCount: 2,
        aggregation: 'sum_agg',
        values: [decimal('1.2'), decimal('1.2')],
      },
      metric: { rounding_function: 'ceil', rounding_precision: 0 },
      exponent: 2,
    });
    expect([fee.units.toFixed(), fee.amountCents]).toEqual(['3', 24]);
  });

  test('the details of a percentage price show free units and amounts (golden case 49)', () => {
    const { details } = price('percentage', terms('1.3', { fixed: '2', F: 3, A: '250' }), summed(50, 100, 250, 400));
    expect(details).toEqual({
      units: '800.0',
      free_units: '250.0',
      free_events: 2,
      paid_units: '550.0',
      rate: '1.3',
      per_unit_total_amount: '7.15',
      paid_events: 2,
      fixed_fee_unit_amount: '2.0',
      fixed_fee_total_amount: '4.0',
      min_max_adjustment_total_amount: '0.0',
    });
  });

  test('the details of limits show what they change', () => {
    const { details } = price('percentage', terms('2.99', { min: '1.75', max: '12' }), summed(10, 80, 10000));
    expect(details).toMatchObject({
      per_unit_total_amount: '301.691',
      min_max_adjustment_total_amount: '-285.549', // 16.142 − 301.691
      fixed_fee_unit_amount: '0.0',
      paid_events: 3,
    });
  });
});

describe('values of events that a price needs', () => {
  test.each<[Properties, AggregationType, unknown]>([
    [terms('1', { fixed: '5' }), 'sum_agg', 'none'],
    [terms('1', { F: 3 }), 'sum_agg', { first: 3 }],
    [terms('1', { F: 3, A: '15' }), 'sum_agg', { first: 3 }],
    [terms('1', { A: '15' }), 'sum_agg', { untilSumAbove: decimal(15) }],
    [terms('1', { F: 3, min: '1' }), 'sum_agg', 'all'],
    [terms('1', { max: '1' }), 'max_agg', 'all'],
    [terms('1', { F: 3, min: '1' }), 'count_agg', 'none'],
    [terms('1', { F: 3 }), 'max_agg', 'none'],
    [terms('1', { max: '1' }), 'weighted_sum_agg', 'none'],
  ])(
    'a percentage price needs single values only where it prices them: example %#',
    (properties, aggregation, expected) => {
      expect(eventsNeeded('percentage', properties, aggregation)).toEqual(expected);
    },
  );

  test('models other than percentage need no single values', () => {
    expect(eventsNeeded('standard', { amount: '1' }, 'sum_agg')).toBe('none');
  });

  test('single values that are needed and missing are a defect', () => {
    expect(() => cents(terms('1', { F: 3 }), counted(1, 'sum_agg'))).toThrow('values of its events');
    expect(() => cents(terms('1', { min: '3' }), counted(1, 'sum_agg'))).toThrow('values of its events');
    expect(() => cents(terms('1', { F: 3 }), { units: decimal(1), eventsCount: 1 })).toThrow('what its units are');
  });

  test('the first single values suffice where only they are needed', () => {
    const usage = summed(50, 100, 250, 400);
    expect(cents(terms('1.3', { fixed: '2', F: 3 }), { ...usage, values: usage.values?.slice(0, 3) })).toBe(720);
    expect(cents(terms('1.3', { A: '120' }), { ...usage, values: usage.values?.slice(0, 2) })).toBe(884);
  });
});

describe('properties', () => {
  test.each([
    [{}, []],
    [{ rate: '1.3' }, []],
    [{ rate: '1', per_transaction_min_amount: '', per_transaction_max_amount: ' ' }, []],
    [{ rate: '1', per_transaction_min_amount: '2', per_transaction_max_amount: '2' }, []],
    [{ rate: 1 }, ['invalid_rate']],
    [{ fixed_amount: '1' }, ['invalid_rate']],
    [{ rate: '-1', fixed_amount: '' }, ['invalid_rate', 'invalid_fixed_amount']],
    [{ rate: '1', free_units_per_events: 0 }, ['invalid_free_units_per_events']],
    [{ rate: '1', free_units_per_events: '3' }, ['invalid_free_units_per_events']],
    [{ rate: '1', free_units_per_total_aggregation: 3 }, ['invalid_free_units_per_total_aggregation']],
    [
      { rate: '1', per_transaction_min_amount: 'x', per_transaction_max_amount: 1 },
      ['invalid_amount', 'invalid_amount'],
    ],
    [
      { rate: '1', per_transaction_min_amount: '10', per_transaction_max_amount: '9.99' },
      ['per_transaction_max_lower_than_per_transaction_min'],
    ],
  ])('percentage properties %j become %j', (properties, codes) => {
    const result = validateProperties('percentage', properties);
    expect(result.ok ? [] : result.codes).toEqual(codes);
  });

  test('the default percentage is a rate of 0', () => {
    expect(validateProperties('percentage', {})).toEqual({ ok: true, properties: { rate: '0' } });
    expect(validateProperties('dynamic', {})).toEqual({ ok: true, properties: {} });
    expect(validateProperties('dynamic', { amount: '1', pricing_group_keys: ['a'] })).toEqual({
      ok: true,
      properties: { pricing_group_keys: ['a'] },
    });
  });
});
