import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { UnitRounding } from '../../../src/engine/metrics/round-units.ts';
import { AmountOutOfRange } from '../../../src/engine/money/cents.ts';
import { decimal, decimalText } from '../../../src/engine/money/decimal.ts';
import { CHARGE_MODELS } from '../../../src/engine/pricing/charge-models.ts';
import { isPriced, price } from '../../../src/engine/pricing/price.ts';
import { isStored, usageFee } from '../../../src/engine/pricing/usage-fee.ts';

const AS_IS: UnitRounding = { rounding_function: null, rounding_precision: null };

const fee = (units: string, amount: string, exponent = 2, metric = AS_IS, eventsCount = 1) =>
  usageFee({
    charge_model: 'standard',
    properties: { amount },
    usage: { units: decimal(units), eventsCount },
    metric,
    exponent,
  });

describe('standard charges (golden-usage.md#simple-models)', () => {
  test.each<[string, string, string, number, UnitRounding, string, number]>([
    // case, units, price, exponent, rounding → units shown, cents
    ['1', '3', '20', 2, AS_IS, '3.0', 6000],
    ['2', '12.5', '0.01', 2, AS_IS, '12.5', 13],
    ['3', '0.005', '1', 2, AS_IS, '0.005', 1],
    ['4', '0', '20', 2, AS_IS, '0.0', 0],
    ['5', '-3', '10', 2, AS_IS, '0.0', 0],
    ['6', '2.5', '3', 0, AS_IS, '2.5', 8],
    ['7', '12.341', '2', 2, { rounding_function: 'ceil', rounding_precision: 1 }, '12.4', 2480],
    ['8', '7', '1', 2, AS_IS, '7.0', 700],
    ['11', '7', '1', 2, AS_IS, '7.0', 700],
    ['a third decimal', '1.2345', '1', 3, AS_IS, '1.2345', 1235],
  ])('golden case %s: %s units cost %s each', (_case, units, amount, exponent, metric, shown, cents) => {
    const result = fee(units, amount, exponent, metric);
    expect([decimalText(result.units), result.amountCents]).toEqual([shown, cents]);
    expect(result.amountDetails).toEqual({});
  });

  test('the precise amount keeps what rounding to cents loses', () => {
    const result = fee('12.5', '0.01');
    expect(result.preciseAmountCents.toFixed()).toBe('12.5');
    expect(result.preciseUnitAmount.toFixed()).toBe('0.01');
    expect(result.unitAmountCents).toBe(1);
    expect(fee('1', '0.00000000000000000049').preciseAmountCents.toFixed()).toBe('0');
    expect(fee('1', '0.000000000000000006').preciseAmountCents.toFixed()).toBe('0.000000000000001');
  });

  test('the unit amount is truncated to cents', () => {
    expect(fee('3', '3.329').unitAmountCents).toBe(332);
  });

  test('a prorated charge shows full units and divides its amount by them', () => {
    const result = usageFee({
      charge_model: 'standard',
      properties: { amount: '10' },
      usage: { units: decimal('5.5'), fullUnits: decimal('11'), eventsCount: 2 },
      metric: AS_IS,
      exponent: 2,
    });
    expect([decimalText(result.units), result.amountCents, result.unitAmountCents]).toEqual(['11.0', 5500, 500]);
  });

  test('negative units make a fee of zero that keeps its number of events', () => {
    const result = fee('-3', '10', 2, AS_IS, 4);
    expect([result.amountCents, result.unitAmountCents, result.eventsCount]).toEqual([0, 0, 4]);
    expect(result.preciseAmountCents.isZero()).toBe(true);
  });

  test('an amount beyond safe integers is refused', () => {
    expect(() => fee('1e20', '1')).toThrow(AmountOutOfRange);
  });

  test('a fee is the exact product rounded once', () => {
    const tenths = fc.bigInt({ min: 0n, max: 10n ** 9n });
    fc.assert(
      fc.property(tenths, tenths, (units, cents) => {
        const exact = units * cents; // thousandths of a cent
        const rounded = (exact + 500n) / 1000n;
        const result = fee(decimal(String(units)).div(1000).toFixed(), decimal(String(cents)).div(100).toFixed());
        expect(BigInt(result.amountCents)).toBe(rounded);
      }),
    );
  });
});

test.each([
  ['0', '5', 0, 'is not'],
  ['1', '0', 0, 'is'],
  ['0', '5', 2, 'is'],
])(
  'a fee of %s units at %s with %s events %s stored (usage-fees.md#when-a-fee-is-stored)',
  (units, amount, events, verb) => {
    expect(isStored(fee(units, amount, 2, AS_IS, events))).toBe(verb === 'is');
  },
);

test('models that cannot be priced yet, and negative units, are defects', () => {
  expect(CHARGE_MODELS.filter((name) => !isPriced(name))).toEqual(['custom']);
  expect(() => price('custom', {}, { units: decimal(1), eventsCount: 1 })).toThrow('custom');
  expect(() => price('standard', { amount: '1' }, { units: decimal(-1), eventsCount: 1 })).toThrow('not negative');
  expect(() => price('standard', { amount: 1 }, { units: decimal(1), eventsCount: 1 })).toThrow('texts of decimals');
});
