import { expect, test } from 'vitest';
import { readValue, shownValue, type ValueType } from '../../../src/engine/entitlements/privilege-value.ts';

const OPTIONS = ['email', 'slack'];

// entitlements.md#records, table of value types.
test.each<[ValueType, unknown, unknown]>([
  ['integer', 10, 10],
  ['integer', '10', 10],
  ['integer', '-3', -3],
  ['integer', 0, 0],
  ['integer', Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  ['boolean', true, true],
  ['boolean', false, false],
  ['boolean', 'true', true],
  ['boolean', 'false', false],
  ['string', 'gold', 'gold'],
  ['string', '10', '10'],
  ['select', 'slack', 'slack'],
])('a privilege of type %s accepts %j and shows %j', (type, given, shown) => {
  const read = readValue(type, OPTIONS, given);
  expect(read.ok && shownValue(type, read.text)).toBe(shown);
});

test.each<[ValueType, unknown, string]>([
  ['integer', '010', 'value_is_invalid'],
  ['integer', '+1', 'value_is_invalid'],
  ['integer', '-0', 'value_is_invalid'],
  ['integer', '1.0', 'value_is_invalid'],
  ['integer', ' 1', 'value_is_invalid'],
  ['integer', 1.5, 'value_is_invalid'],
  ['integer', 2 ** 53, 'value_is_invalid'],
  ['integer', '9007199254740993', 'value_is_invalid'],
  ['integer', true, 'value_is_invalid'],
  ['boolean', 1, 'value_is_invalid'],
  ['boolean', 'TRUE', 'value_is_invalid'],
  ['boolean', ['true'], 'value_is_invalid'],
  ['string', 10, 'value_is_invalid'],
  ['string', {}, 'value_is_invalid'],
  ['select', 'fax', 'value_not_in_select_options'],
  ['select', 1, 'value_not_in_select_options'],
  ['integer', null, 'value_is_mandatory'],
  ['boolean', null, 'value_is_mandatory'],
  ['string', '', 'value_is_mandatory'],
  ['select', ' ', 'value_is_mandatory'],
])('a privilege of type %s refuses %j with %s', (type, given, reason) => {
  expect(readValue(type, OPTIONS, given)).toEqual({ ok: false, reason });
});
