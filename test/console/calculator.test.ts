import { describe, expect, test } from 'vitest';
import { amountText, centsOf } from '../../console/parts/cents.ts';
import { calculate, curve, faultsOf } from '../../console/rooms/plans/calculate.ts';
import { priceWords } from '../../console/rooms/plans/price-words.ts';
import { rangeStarts, sharesOf } from '../../console/rooms/plans/shares.ts';
import type { ChargeModelName } from '../../src/engine/pricing/charge-models.ts';

const range = (from_value: number, to_value: number | null, per_unit_amount: string, flat_amount = '0') => ({
  from_value,
  to_value,
  per_unit_amount,
  flat_amount,
});
const G = {
  graduated_ranges: [range(0, 1000, '0'), range(1001, 10000, '0.005'), range(10001, null, '0.003', '10')],
};
const VOLUME = { volume_ranges: [range(0, 100, '2', '1'), range(101, null, '1')] };
const PERCENT_RANGES = {
  graduated_percentage_ranges: [
    { from_value: 0, to_value: 10000, rate: '1', flat_amount: '2' },
    { from_value: 10001, to_value: null, rate: '0.5', flat_amount: '1' },
  ],
};
const DYNAMIC = { amount_currency: 'USD', conversion_rate: '0.92', markup_rate: '20' };
const PACKAGE = { amount: '100', package_size: 10, free_units: 5 };

describe('the calculator prices as the invoice does', () => {
  test.each<[string, ChargeModelName, object, string, string, number, number, string | undefined]>([
    ['CO1', 'standard', { amount: '0.05' }, 'USD', '1234.5', 1, 6173, '6172.5'],
    ['CO2', 'graduated', G, 'USD', '1000', 1, 0, undefined],
    ['CO2', 'graduated', G, 'USD', '1001', 1, 1, '0.5'],
    ['CO2', 'graduated', G, 'USD', '12500', 1, 6250, undefined],
    ['CO3', 'package', PACKAGE, 'USD', '15.01', 1, 20000, undefined],
    ['CO4', 'volume', VOLUME, 'USD', '100', 1, 20100, undefined],
    ['CO4', 'volume', VOLUME, 'USD', '100.5', 1, 10050, undefined],
    ['CO4', 'volume', VOLUME, 'USD', '101', 1, 10100, undefined],
    ['CO5', 'percentage', { rate: '1.3', fixed_amount: '0.5' }, 'USD', '1000', 3, 1450, undefined],
    ['CO6', 'graduated_percentage', PERCENT_RANGES, 'USD', '15000', 1, 12800, undefined],
    ['CO7', 'standard', { amount: '0.5' }, 'JPY', '3', 1, 2, '1.5'],
  ])(
    '%s: %s %j in %s, %s units in %i events cost %i',
    (_case, model, properties, currency, units, events, cents, precise) => {
      const priced = calculate({ model, properties: properties as Record<string, unknown>, currency }, units, events);
      expect(priced?.amountCents).toBe(cents);
      if (precise !== undefined) expect(priced?.preciseAmountCents.replace(/\.?0+$/, '')).toBe(precise);
    },
  );
});

test('the calculator computes nothing from what is not right yet', () => {
  const charge = { model: 'standard' as const, properties: { amount: '0.05' }, currency: 'USD' };
  for (const units of ['', '-1', '1e9', '1,5', 'x', '1'.repeat(40)]) expect(calculate(charge, units)).toBeUndefined();
  expect(calculate({ ...charge, properties: { amount: '' } }, '1')).toBeUndefined();
  expect(calculate({ ...charge, currency: 'ABC' }, '1')).toBeUndefined();
  const { conversion_rate: _, ...withoutRate } = DYNAMIC;
  expect(calculate({ model: 'dynamic', properties: withoutRate, currency: 'EUR' }, '1', 1, '9')).toBeUndefined();
  expect(faultsOf('standard', { amount: '' })).toEqual(['invalid_amount']);
});

test('the curve has 60 steps from nothing to twice the units', () => {
  const { units, cents } = curve({ model: 'graduated', properties: G, currency: 'USD' }, '6250');
  expect([units.length, units[0], units.at(-1)]).toEqual([61, 0, 12500]);
  expect([cents[0], cents.at(-1)]).toEqual([0, 6250]);
});

test('the prices of a charge are told in words', () => {
  expect(priceWords('graduated', G, 'USD')).toEqual([
    'Units 0 to 1,000: free',
    'Units 1,001 to 10,000: $0.005 each',
    'Units 10,001 and above: $0.003 each plus $10.00',
  ]);
  expect(priceWords('package', PACKAGE, 'USD')).toEqual(['$100.00 for each begun 10 units, the first 5 free']);
});

test('a percentage is told with its terms', () => {
  const terms = { rate: '1.3', fixed_amount: '0.25', free_units_per_events: 3, per_transaction_max_amount: '5' };
  expect(priceWords('percentage', terms, 'USD')).toEqual([
    '1.3 % of the amount plus $0.25 an event',
    'The first 3 events are free',
    'An event costs at most $5.00',
  ]);
});

test('an amount says what it is made of', () => {
  const shares = (model: ChargeModelName, properties: object, units: string, events = 1) => {
    const charge = { model, properties: properties as Record<string, unknown>, currency: 'USD' };
    return sharesOf(model, calculate(charge, units, events)!, 'USD').map((each) => Object.values(each));
  };
  expect(shares('graduated', G, '12500')).toEqual([
    ['0 to 1,000', '1,000', '$0.00'],
    ['1,001 to 10,000', '9,000', '$45.00'],
    ['10,001 and above', '2,500', '$17.50'],
  ]);
  expect(shares('volume', VOLUME, '100')).toEqual([
    ['All units at $2.00', '', '$200.00'],
    ['Plus, once', '', '$1.00'],
  ]);
  expect(shares('package', PACKAGE, '15.01')).toEqual([
    ['Free units', '5', ''],
    ['Packages begun', '2', '$200.00'],
  ]);
  expect(shares('percentage', { rate: '1.3', fixed_amount: '0.5' }, '1000', 3)).toEqual([
    ['1.3 %', '1,000', '$13.00'],
    ['Fixed amount of an event', '3', '$1.50'],
  ]);
  expect(shares('standard', { amount: '1' }, '3')).toEqual([]);
  expect(rangeStarts('graduated', G)).toEqual([1001, 10001]);
});

test('what events bring is converted and marked up as the invoice does', () => {
  const charge = { model: 'dynamic' as const, properties: { markup_rate: '20' }, currency: 'USD' };
  expect(calculate(charge, '1', 1, '1234.5')?.amountCents).toBe(1481);
  const inDollars = { model: 'dynamic' as const, properties: DYNAMIC, currency: 'EUR' };
  expect(calculate(inDollars, '1', 1, '2.9648')).toMatchObject({ amountCents: 3, preciseAmountCents: '3.2731392' });
  const yen = { ...DYNAMIC, amount_currency: 'JPY', conversion_rate: '0.006' };
  expect(calculate({ ...inDollars, properties: yen }, '1', 1, '1000')).toMatchObject({ amountCents: 720 });
});

test('the fee of a plan becomes whole cents without a float', () => {
  expect(centsOf('49', 2)).toBe(4900);
  expect(centsOf('0.07', 2)).toBe(7);
  expect(centsOf('1.005', 2)).toBeUndefined();
  expect(centsOf('500', 0)).toBe(500);
  expect(centsOf('x', 2)).toBeUndefined();
  expect([amountText(4900, 2), amountText(7, 2), amountText(500, 0)]).toEqual(['49.00', '0.07', '500']);
});
