import { describe, expect, test } from 'vitest';
import { AmountOutOfRange, cents, roundToCents, sumCents, truncateToCents } from '../../../src/engine/money/cents.ts';
import { decimal, decimalText } from '../../../src/engine/money/decimal.ts';
import { roundToDigits } from '../../../src/engine/money/precision.ts';
import { toMainUnit, toSmallestUnit } from '../../../src/engine/money/units.ts';

describe('cents', () => {
  test.each([
    ['0.5', 1],
    ['1.5', 2],
    ['-0.5', -1],
    ['0.4999999999999999999999', 0],
    ['-0.3', 0],
    ['12.5', 13],
    ['4285.7', 4286],
  ])('%s rounds half away from zero to %s', (amount, expected) => {
    expect(roundToCents(decimal(amount))).toBe(expected);
  });

  test('a unit price is truncated, not rounded', () => {
    expect(truncateToCents(decimal('10.31').div('3.1').times(100))).toBe(332);
    expect(truncateToCents(decimal('-1.9'))).toBe(-1);
  });

  test.each([1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('%s is not an amount in cents', (value) => {
    expect(() => cents(value)).toThrow(AmountOutOfRange);
  });

  test('an amount beyond safe integers is refused, not rounded', () => {
    expect(() => roundToCents(decimal('1e30'))).toThrow(AmountOutOfRange);
    expect(() => sumCents([cents(Number.MAX_SAFE_INTEGER), cents(1)])).toThrow(AmountOutOfRange);
  });
});

describe('units', () => {
  test.each([
    ['2.5', 0, '2.5'],
    ['0.125', 2, '12.5'],
    ['1.2345', 3, '1234.5'],
  ])('%s main units with %s decimals are %s smallest units, and convert back', (main, exponent, smallest) => {
    expect(toSmallestUnit(decimal(main), exponent).toFixed()).toBe(smallest);
    expect(toMainUnit(decimal(smallest), exponent).toFixed()).toBe(main);
  });

  test('decimals are shown in plain notation with a fractional digit', () => {
    expect(decimalText(decimal(10))).toBe('10.0');
    expect(decimalText(roundToDigits(decimal(1).div(3), 15))).toBe('0.333333333333333');
    expect(decimalText(decimal('1e-20'))).toBe('0.00000000000000000001');
  });
});
