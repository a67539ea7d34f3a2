import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { decimal } from '../../../src/engine/money/decimal.ts';
import { elementErrors } from '../../../src/platform/schema/element-errors.ts';
import { refuseIssues } from '../../../src/platform/schema/field-errors.ts';
import { decimalInput, integer, OUT_OF_RANGE, withoutNullBytes } from '../../../src/platform/schema/fields.ts';

const units = decimalInput().refine((value) => decimal(value).gte(0), OUT_OF_RANGE);
const Plan = z
  .object({ trial_period: units.nullish(), fixed_charges: z.array(z.object({ units })) })
  .check(elementErrors('fixed_charges'));

const errorsOf = (input: unknown): unknown => {
  const parsed = Plan.safeParse(input);
  return parsed.success ? parsed.data : refuseIssues(parsed.error).body.error_details;
};

test('a decimal is returned as the text that was written', () => {
  expect(errorsOf({ trial_period: 1.5, fixed_charges: [{ units: ' 0.10 ' }] })).toEqual({
    trial_period: '1.5',
    fixed_charges: [{ units: '0.10' }],
  });
});

test.each([
  [{ fixed_charges: [{ units: '1' }, { units: 'abc' }] }, { units: ['value_is_invalid'] }],
  [
    { trial_period: 'abc', fixed_charges: [{ units: '-1' }] },
    { trial_period: ['value_is_invalid'], units: ['value_is_out_of_range'] },
  ],
  [
    { trial_period: '-1', fixed_charges: [{ units: {} }, {}] },
    { trial_period: ['value_is_out_of_range'], units: ['value_is_invalid', 'value_is_mandatory'] },
  ],
])('a bad decimal keeps the name of its field, in a list too: %j', (input, errors) => {
  expect(errorsOf(input)).toEqual(errors);
});

test.each([
  [10, 10],
  [' 10 ', 10],
  [9007199254740991, 9007199254740991],
  [-1, ['value_is_out_of_range']],
  ['12345678901234567890', ['value_is_out_of_range']],
  [1e300, ['value_is_out_of_range']],
  [-1.5, ['value_is_invalid']],
  ['1e1', ['value_is_invalid']],
  [true, ['value_is_invalid']],
  ['', ['value_is_mandatory']],
  [null, ['value_is_mandatory']],
])('the whole number %j is read as %j, and one fault has one code', (sent, taken) => {
  const parsed = z.object({ amount: integer({ min: 0 }) }).safeParse({ amount: sent });
  expect(parsed.success ? parsed.data.amount : refuseIssues(parsed.error).body.error_details).toEqual(
    Array.isArray(taken) ? { amount: taken } : taken,
  );
});

test('a value of another type is invalid, and a missing one is mandatory', () => {
  const Place = z.object({
    place: z.object({ city: z.string() }),
    list: z.array(z.string()),
    map: z.record(z.string(), z.int()),
  });
  const errors = (input: unknown) => {
    const parsed = Place.safeParse(input);
    return parsed.success ? {} : refuseIssues(parsed.error).body.error_details;
  };
  const all = (code: string) => ({ place: [code], list: [code], map: [code] });
  expect(errors({ place: 'x', list: {}, map: 7 })).toEqual(all('value_is_invalid'));
  expect(errors({ place: null, list: null, map: null })).toEqual(all('value_is_mandatory'));
  expect(errors({})).toEqual(all('value_is_mandatory'));
});

test('metadata loses null bytes in names and texts', () => {
  expect(withoutNullBytes({ 'a\0': 'b\0c', n: 1 })).toEqual({ a: 'bc', n: 1 });
  for (const other of ['a\0', null, ['a\0']]) expect(withoutNullBytes(other)).toBe(other);
});

test('rules of an object see no text that is not a decimal, nor a longer one than is allowed', () => {
  const rule = vi.fn(() => true);
  const Pair = z.object({ units: decimalInput() }).refine(rule);
  for (const units of ['abc', 'a'.repeat(300), '9'.repeat(300), [], null])
    expect(Pair.safeParse({ units }).success).toBe(false);
  expect(rule).not.toHaveBeenCalled();
});
