import { describe, expect, test } from 'vitest';
import { decimal } from '../../../src/engine/money/decimal.ts';
import type { Properties } from '../../../src/engine/pricing/charge-model.ts';
import type { ChargeModelName } from '../../../src/engine/pricing/charge-models.ts';
import { price } from '../../../src/engine/pricing/price.ts';
import { usageFee } from '../../../src/engine/pricing/usage-fee.ts';
import { validateProperties } from '../../../src/engine/pricing/validate-properties.ts';

/** Ranges written as [from, to, price, flat]. */
const ranges = (key: string, name: string, rows: [number, number | null, string, string][]): Properties => ({
  [key]: rows.map(([from_value, to_value, per, flat]) => ({ from_value, to_value, [name]: per, flat_amount: flat })),
});
const A = ranges('graduated_ranges', 'per_unit_amount', [
  [0, 10, '10', '2'],
  [11, 20, '5', '3'],
  [21, null, '5', '3'],
]);
const B = ranges('graduated_ranges', 'per_unit_amount', [
  [0, 0.1, '10', '0'],
  [0.1, 1, '5', '0'],
  [1, null, '2', '0'],
]);
const C = ranges('graduated_percentage_ranges', 'rate', [
  [0, 10, '1', '200'],
  [11, 20, '2', '300'],
  [21, null, '3', '400'],
]);
const D = ranges('graduated_percentage_ranges', 'rate', [
  [0, 100, '5', '0'],
  [101, null, '2', '10'],
]);
const VOLUME = ranges('volume_ranges', 'per_unit_amount', [
  [0, 100, '2', '10'],
  [101, 200, '1', '0'],
  [201, null, '0.5', '50'],
]);

const cents = (charge_model: ChargeModelName, properties: Properties, units: string) =>
  usageFee({
    charge_model,
    properties,
    usage: { units: decimal(units), eventsCount: 1 },
    metric: { rounding_function: null, rounding_precision: null },
    exponent: 2,
  }).amountCents;

describe('graduated (golden-usage.md#graduated)', () => {
  test.each([
    ['0', 200, A],
    ['1', 1200, A],
    ['10', 10200, A],
    ['10.5', 10750, A],
    ['11', 11000, A],
    ['12', 11500, A],
    ['20', 15500, A],
    ['21', 16300, A],
    ['0.05', 50, B],
    ['0.5', 300, B],
    ['1', 550, B],
    ['3', 950, B],
  ])('%s units in graduated ranges cost %s cents', (units, amount, properties) => {
    expect(cents('graduated', properties, units)).toBe(amount);
  });

  test('the details of a graduated price show the ranges entered', () => {
    expect(price('graduated', A, { units: decimal('12'), eventsCount: 1 }).details).toEqual({
      graduated_ranges: [
        {
          from_value: '0.0',
          to_value: '10.0',
          flat_unit_amount: '2.0',
          per_unit_amount: '10.0',
          units: '10.0',
          per_unit_total_amount: '100.0',
          total_with_flat_amount: '102.0',
        },
        {
          from_value: '11.0',
          to_value: '20.0',
          flat_unit_amount: '3.0',
          per_unit_amount: '5.0',
          units: '2.0',
          per_unit_total_amount: '10.0',
          total_with_flat_amount: '13.0',
        },
      ],
    });
  });
});

describe('graduated percentage (golden-usage.md#graduated-percentage)', () => {
  test.each([
    ['0', 20000, C],
    ['1', 20001, C],
    ['10', 20010, C],
    ['11', 50012, C],
    ['12', 50014, C],
    ['21', 90033, C],
    ['50', 250, D],
    ['100', 500, D],
    ['150', 1600, D],
  ])('%s units in graduated percentages cost %s cents', (units, amount, properties) => {
    expect(cents('graduated_percentage', properties, units)).toBe(amount);
  });
});

describe('package (golden-usage.md#package)', () => {
  test.each([
    [10, 0, '3', 10000],
    [10, 0, '10', 10000],
    [10, 0, '15', 20000],
    [10, 5, '3', 0],
    [10, 5, '5', 0],
    [10, 5, '12', 10000],
    [10, 5, '15.01', 20000],
  ])('packages of %s with %s free: %s units cost %s', (package_size, free_units, units, amount) => {
    expect(cents('package', { amount: '100', package_size, free_units }, units)).toBe(amount);
  });

  test('the details of a package price without usage are all zero', () => {
    expect(
      price('package', { amount: '5', package_size: 100, free_units: 3 }, { units: decimal('0'), eventsCount: 0 })
        .details,
    ).toEqual({
      free_units: '0.0',
      paid_units: '0.0',
      per_package_size: 0,
      per_package_unit_amount: '0.0',
    });
  });
});

describe('volume (golden-usage.md#volume)', () => {
  test.each([
    ['0', 1000, '0'],
    ['1', 1200, '12'],
    ['100', 21000, '2.1'],
    ['100.5', 10050, '1'],
    ['101', 10100, '1'],
    ['200', 20000, '1'],
    ['200.5', 15025, '0.7493766'],
    ['201', 15050, '0.7487562'],
  ])('in volume pricing %s units cost %s, a unit %s', (units, amount, unitAmount) => {
    expect(cents('volume', VOLUME, units)).toBe(amount);
    expect(
      price('volume', VOLUME, { units: decimal(units), eventsCount: 1 })
        .unitAmount.toDecimalPlaces(7)
        .toFixed(),
    ).toBe(unitAmount);
  });
});

describe('properties', () => {
  const list = (key: string, rows: unknown[]): Properties => ({ [key]: rows });
  const range = (from_value: unknown, to_value: unknown, more: object = {}) => ({
    from_value,
    to_value,
    per_unit_amount: '1',
    flat_amount: '0',
    ...more,
  });

  test.each<[ChargeModelName, unknown, string[]]>([
    ['graduated', { graduated_ranges: [] }, ['missing_graduated_ranges']],
    ['graduated', list('graduated_ranges', [range(0, 10), range(12, null)]), ['invalid_graduated_ranges']],
    ['graduated', list('graduated_ranges', [range(0, 10), range(11, 20)]), ['invalid_graduated_ranges']],
    ['graduated', list('graduated_ranges', [range(2, null)]), ['invalid_graduated_ranges']],
    ['graduated', list('graduated_ranges', [range(0, 0), range(1, null)]), ['invalid_graduated_ranges']],
    [
      'graduated',
      list('graduated_ranges', [range(0, 10, { per_unit_amount: 1 }), range(12, null)]),
      ['invalid_amount', 'invalid_graduated_ranges'],
    ],
    ['volume', { volume_ranges: [range(0, 10), range(10, null)] }, ['invalid_volume_ranges']],
    ['volume', { volume_ranges: [range(1, null)] }, ['invalid_volume_ranges']],
    [
      'graduated_percentage',
      { graduated_percentage_ranges: [{ from_value: 0, to_value: null, rate: '-1', flat_amount: 'x' }] },
      ['invalid_rate', 'invalid_amount'],
    ],
    [
      'package',
      { amount: 5, package_size: 0, free_units: -1 },
      ['invalid_amount', 'invalid_package_size', 'invalid_free_units'],
    ],
    ['package', { amount: '5', package_size: '10' }, ['invalid_package_size', 'invalid_free_units']],
  ])('properties of %s %j are refused with %j', (model, given, codes) => {
    expect(validateProperties(model, given)).toEqual({ ok: false, codes });
  });

  test('bounds of ranges are stored as numbers, whatever form they were sent in', () => {
    const given = list('graduated_ranges', [range('0', '10', { extra: true }), range('10', null)]);
    expect(validateProperties('graduated', given)).toEqual({
      ok: true,
      properties: {
        graduated_ranges: [
          { from_value: 0, to_value: 10, per_unit_amount: '1', flat_amount: '0' },
          { from_value: 10, to_value: null, per_unit_amount: '1', flat_amount: '0' },
        ],
      },
    });
  });

  test('amounts in properties are stored in plain digits at every place', () => {
    const given = list('volume_ranges', [range(0, null, { per_unit_amount: '1e2', flat_amount: '5e-7' })]);
    expect(validateProperties('volume', given)).toMatchObject({
      properties: { volume_ranges: [{ per_unit_amount: '100', flat_amount: '0.0000005' }] },
    });
  });

  test('blank properties of a percentage are null, and a fixed amount may be absent', () => {
    const given = { rate: '5E-1', fixed_amount: null, free_units_per_events: null, per_transaction_max_amount: ' ' };
    expect(validateProperties('percentage', given)).toEqual({
      ok: true,
      properties: { rate: '0.5', free_units_per_events: null, per_transaction_max_amount: null },
    });
  });

  test.each<ChargeModelName>(['graduated', 'graduated_percentage', 'package', 'volume'])(
    'default properties of %s have no fault',
    (model) => {
      const { properties } = validateProperties(model, {}) as { properties: Properties };
      expect(validateProperties(model, properties)).toEqual({ ok: true, properties });
    },
  );
});
