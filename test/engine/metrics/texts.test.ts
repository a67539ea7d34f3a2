import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { numericValue } from '../../../src/engine/metrics/numeric-text.ts';
import { propertyText } from '../../../src/engine/metrics/property-text.ts';

describe('numbers in texts', () => {
  test.each(['5', '-5', '0', '007', '1.50', '-0.000000000000000000001', '123456789012345678901234567890'])(
    'the text %s counts as a number',
    (text) => {
      expect(numericValue(text)?.eq(text)).toBe(true);
    },
  );

  test.each(['1e3', '.5', '5.', '+1', 'abc', '', ' 5', '5\n', '1,5', '--1', 'Infinity', '٣', null])(
    'the text %j is not a number and is ignored',
    (text) => {
      expect(numericValue(text)).toBeUndefined();
    },
  );
});

/** As the body reader keeps it: not a plain object. */
const keptNumber = (value: string) => Object.assign(Object.create({}), { isLosslessNumber: true, value });

describe('texts of properties', () => {
  test.each<[unknown, string | null]>([
    ['1', '1'],
    ['1.10', '1.10'],
    ['', ''],
    [1, '1'],
    [1.1, '1.1'],
    [-0, '0'],
    [1e21, '1000000000000000000000'],
    [1e-7, '0.0000001'],
    [true, 'true'],
    [null, null],
    [undefined, null],
    [keptNumber('1234567890123456789.10'), '1234567890123456789.1'],
    [{ isLosslessNumber: true, value: 'x' }, '{"value": "x", "isLosslessNumber": true}'],
    [[1, 'a', null], '[1, "a", null]'],
    [{ bb: 1, a: { c: '"' }, é: 2 }, '{"a": {"c": "\\""}, "bb": 1, "é": 2}'],
    [{}, '{}'],
  ])('the property %j has the text %j', (value, text) => {
    expect(propertyText(value)).toBe(text);
  });

  test('a number within the precision of a double keeps its value', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(Number(propertyText(value))).toBe(value + 0);
      }),
    );
  });
});
