import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shownProperties, validateProperties } from '../../../src/engine/pricing/validate-properties.ts';

const check = (given: unknown, isFilter = false) => {
  const result = validateProperties('standard', given, { isFilter });
  return result.ok ? result.properties : result.codes;
};

describe('properties of a standard charge (charges.md#properties)', () => {
  test.each(['0', '0.00003', '20', '1.10', '123456789012345678901234567890.5'])(
    'the amount "%s" is stored as it is',
    (amount) => {
      expect(check({ amount })).toEqual({ amount });
    },
  );

  test.each([
    ['1e-05', '0.00001'],
    ['2.5E3', '2500'],
    ['1e30', '1000000000000000000000000000000'],
    ['1e99', `1${'0'.repeat(99)}`],
  ])('the amount "%s" is stored in plain digits', (sent, amount) => {
    expect(check({ amount: sent })).toEqual({ amount });
    expect(check({ amount: sent }, true)).toEqual({ amount });
  });

  test.each([
    20,
    '-1',
    '-0.1',
    '',
    ' 1',
    'abc',
    '1,5',
    '.5',
    '1.',
    'NaN',
    'Infinity',
    '0x10',
    '1e999',
    null,
    undefined,
    true,
    ['1'],
    {},
  ])('the amount %j is refused', (amount) => {
    expect(check({ amount, pricing_group_keys: null })).toEqual(['invalid_amount']);
  });

  test.each([undefined, null, {}])('properties %j become the default', (given) => {
    expect(check(given)).toEqual({ amount: '0' });
  });

  test.each(['text', 5, [], true])('properties %j are not an object', (given) => {
    expect(check(given)).toEqual(['invalid_type']);
  });

  test('unknown properties are dropped', () => {
    expect(check({ amount: '1', rate: '2', graduated_ranges: [] })).toEqual({ amount: '1' });
  });
});

describe('group keys', () => {
  test('group keys are stored under one name without blanks and shown under both names', () => {
    const stored = check({ amount: '1', grouped_by: ['region', '', ' ', 'cloud'] });
    expect(stored).toEqual({ amount: '1', pricing_group_keys: ['region', 'cloud'] });
    expect(shownProperties(stored as object as Record<string, unknown>)).toEqual({
      amount: '1',
      pricing_group_keys: ['region', 'cloud'],
      grouped_by: ['region', 'cloud'],
    });
    expect(shownProperties({ amount: '1' })).toEqual({ amount: '1' });
  });

  test.each([null, undefined, []])('group keys %j mean no grouping', (pricing_group_keys) => {
    expect(check({ amount: '1', pricing_group_keys })).toEqual({ amount: '1' });
  });

  test.each(['region', {}, [1], [null], 5])('group keys %j are of a wrong type', (pricing_group_keys) => {
    expect(check({ amount: '1', pricing_group_keys })).toEqual(['invalid_type']);
  });

  test.each<[unknown, string[]]>([
    ['region', ['invalid_type']],
    [['region'], ['invalid_type']],
    [[{ value: ' ' }], ['invalid_type']],
    [[{ value: 'a', other: 1 }], ['invalid_type']],
    [[{ value: 'a', options: { display_in_invoice: 'yes' } }], ['invalid_type']],
    [[{ value: 'a', options: { other: true } }], ['invalid_type']],
    [[{ value: 'a' }, { value: 'b' }, { value: 'c' }], ['too_many_keys']],
    [[{ value: 'a' }, { value: 'a' }], ['value_is_duplicated']],
    [
      [{ value: 'a' }, { value: 'b' }, { value: 'a' }],
      ['too_many_keys', 'value_is_duplicated'],
    ],
  ])('presentation keys %j are refused: %j', (presentation_group_keys, codes) => {
    expect(check({ amount: '1', presentation_group_keys })).toEqual(codes);
  });

  test('presentation keys are kept on a charge and dropped on a filter', () => {
    const presentation_group_keys = [{ value: 'a', options: { display_in_invoice: true } }, { value: 'b' }];
    expect(check({ amount: '1', presentation_group_keys })).toEqual({ amount: '1', presentation_group_keys });
    expect(check({ amount: '1', presentation_group_keys: 'anything' }, true)).toEqual({ amount: '1' });
  });

  test('every fault of properties is reported, in order', () => {
    expect(check({ amount: 1, grouped_by: 1, presentation_group_keys: 1 })).toEqual([
      'invalid_amount',
      'invalid_type',
      'invalid_type',
    ]);
  });
});

test('validation accepts or refuses any input, and accepts again what it accepted', () => {
  fc.assert(
    fc.property(fc.anything(), fc.anything(), (given, amount) => {
      for (const properties of [
        given,
        { amount },
        { amount: '1', presentation_group_keys: given, grouped_by: amount },
      ]) {
        const result = validateProperties('standard', properties);
        if (result.ok) expect(validateProperties('standard', result.properties)).toEqual(result);
        else expect(result.codes.length).toBeGreaterThan(0);
      }
    }),
  );
});
