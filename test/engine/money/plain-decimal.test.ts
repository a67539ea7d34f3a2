import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decimal } from '../../../src/engine/money/decimal.ts';
import { decimalParts, plainDecimal, plainLength } from '../../../src/engine/money/plain-decimal.ts';

const digits = (min: number, max: number) => fc.stringMatching(new RegExp(`^[0-9]{${min},${max}}$`));
const literals = fc
  .tuple(
    fc.constantFrom('', '-', '+'),
    digits(1, 40),
    fc.option(digits(1, 40), { nil: undefined }),
    fc.option(fc.integer({ min: -400, max: 400 }), { nil: undefined }),
    fc.constantFrom('e', 'E', 'e+'),
  )
  .map(([sign, whole, fraction, exponent, e]) => {
    const power = exponent === undefined ? '' : `${exponent < 0 ? e.charAt(0) : e}${exponent}`;
    return `${sign}${whole}${fraction === undefined ? '' : `.${fraction}`}${power}`;
  });

describe('the plain form of a number literal', () => {
  test.each([
    ['11e-1', '1.1'],
    ['1.10', '1.1'],
    ['1.1', '1.1'],
    ['100', '100'],
    ['1E3', '1000'],
    ['0.000', '0'],
    ['-0.0', '0'],
    ['0e999999999', '0'],
    ['12e3', '12000'],
    ['1.2e1', '12'],
    ['-5e-7', '-0.0000005'],
    ['1e21', '1000000000000000000000'],
    ['12345678901234567890.50', '12345678901234567890.5'],
  ])('the plain form of %s is %s', (literal, plain) => {
    expect(plainDecimal(literal)).toBe(plain);
  });

  test('the plain form equals exact arithmetic and has the predicted length', () => {
    fc.assert(
      fc.property(literals, (literal) => {
        const value = decimal(literal);
        const plain = plainDecimal(literal);
        expect(plain).toBe(value.isZero() ? '0' : value.toFixed());
        expect(plainLength(decimalParts(literal))).toBe(plain.length);
      }),
      { numRuns: 2000 },
    );
  });

  test.each(['', '-', '.', 'NaN', 'Infinity', '1e', '0x10'])('%j is not a number', (text) => {
    expect(() => plainDecimal(text)).toThrow(RangeError);
  });

  test.each(['1e999999999', '1e-999999999'])('%s is too long to be written out', (literal) => {
    expect(() => plainDecimal(literal)).toThrow(RangeError);
  });
});
