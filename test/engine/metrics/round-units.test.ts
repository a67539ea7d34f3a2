import { expect, test } from 'vitest';
import { type RoundingFunction, roundUnits } from '../../../src/engine/metrics/round-units.ts';
import { decimal, decimalText } from '../../../src/engine/money/decimal.ts';

test.each<[string, RoundingFunction | null, number | null, string]>([
  ['29.4375', 'ceil', 2, '29.44'],
  ['9.72263', 'ceil', 2, '9.73'],
  ['12.5', 'round', null, '13.0'],
  ['-2.5', 'round', 0, '-3.0'],
  ['1234', 'round', -2, '1200.0'],
  ['12.341', 'ceil', 1, '12.4'],
  ['-9.99', 'floor', 1, '-10.0'],
  ['-9.99', 'ceil', 1, '-9.9'],
  ['1201', 'ceil', -2, '1300.0'],
  ['49', 'round', -2, '0.0'],
  ['-0.4', 'round', 0, '0.0'],
  ['12.341', null, 1, '12.341'],
  ['1.5', 'floor', 20, '1.5'],
])(
  '%s units with the rounding %s and the precision %s are %s',
  (units, rounding_function, rounding_precision, expected) => {
    expect(decimalText(roundUnits(decimal(units), { rounding_function, rounding_precision }))).toBe(expected);
  },
);
