import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { anyValue, list, named } from '../../../src/platform/schema/bounded.ts';
import { elementErrors } from '../../../src/platform/schema/element-errors.ts';
import { refuseIssues } from '../../../src/platform/schema/field-errors.ts';
import { text } from '../../../src/platform/schema/fields.ts';

const errorsOf = (schema: z.ZodType, input: unknown): unknown => {
  const parsed = schema.safeParse(input);
  return parsed.success ? parsed.data : refuseIssues(parsed.error).body.error_details;
};

/** An element that counts how often it is looked at. */
function counted(isRight: boolean) {
  const seen = { count: 0 };
  const element = z.unknown().refine(() => {
    seen.count += 1;
    return isRight;
  }, 'value_is_invalid');
  return { seen, element };
}

describe('bounded lists', () => {
  test('a list within its length is read element by element', () => {
    const { seen, element } = counted(true);
    expect(errorsOf(z.object({ codes: list(element, { max: 3 }) }), { codes: [1, 2, 3] })).toEqual({
      codes: [1, 2, 3],
    });
    expect(seen.count).toBe(3);
  });

  test('a list that is too long is refused before any element is read', () => {
    const { seen, element } = counted(true);
    const million = Array.from({ length: 1_000_000 }, () => ({}));
    expect(errorsOf(z.object({ codes: list(element, { max: 500 }) }), { codes: million })).toEqual({
      codes: ['value_is_too_long'],
    });
    expect(seen.count).toBe(0);
  });

  test('a list is read no further after a hundred issues', () => {
    const { seen, element } = counted(false);
    const parsed = list(element, { max: 10_000 }).safeParse(Array(10_000).fill(0));
    expect(parsed.error?.issues).toHaveLength(100);
    expect(seen.count).toBe(100);
  });

  test('a list within lists that has too many issues also stops the outer one', () => {
    const { seen, element } = counted(false);
    const parsed = list(list(element, { max: 100 }), { max: 100 }).safeParse(Array(100).fill(Array(100).fill(0)));
    expect(parsed.success).toBe(false);
    expect(seen.count).toBe(100);
  });

  test('a bounded list keeps its own error codes and the names given by outer checks', () => {
    const Plan = z
      .object({ charges: list(z.object({ filters: list(text(), { max: 2, tooMany: 'invalid_count' }) }), { max: 5 }) })
      .check(elementErrors('charges'));
    expect(errorsOf(Plan, { charges: [{ filters: ['a', 'b', 'c'] }, { filters: [''] }] })).toEqual({
      filters: ['invalid_count', 'value_is_mandatory'],
    });
    expect(errorsOf(Plan, { charges: {} })).toEqual({ charges: ['value_is_invalid'] });
    expect(errorsOf(Plan, {})).toEqual({ charges: ['value_is_invalid'] });
  });

  test('a list that is too long is not passed to later rules', () => {
    const pairs = list(z.object({ key: text() }), { max: 2, tooMany: 'invalid_count' })
      .min(1, 'value_is_mandatory')
      .superRefine((items) => {
        for (const { key } of items) key.trim();
      });
    expect(errorsOf(z.object({ pairs }), { pairs: [null, null, null] })).toEqual({ pairs: ['invalid_count'] });
  });

  test('a bounded list documents its length', () => {
    expect(z.toJSONSchema(list(z.string(), { max: 7 }))).toMatchObject({ type: 'array', maxItems: 7 });
  });
});

test('a record with too many names is refused before any value is read', () => {
  const { seen, element } = counted(true);
  const schema = z.object({ metadata: named(element, { max: 2, tooMany: 'too_many_keys' }) });
  expect(errorsOf(schema, { metadata: { a: 1, b: 2 } })).toEqual({ metadata: { a: 1, b: 2 } });
  expect(seen.count).toBe(2);
  expect(errorsOf(schema, { metadata: { a: 1, b: 2, c: 3 } })).toEqual({ metadata: ['too_many_keys'] });
  expect(seen.count).toBe(2);
  expect(errorsOf(schema, { metadata: [1, 2, 3] })).toEqual({ metadata: ['value_is_invalid'] });
});

test.each([
  ['accepted', { a: [1, { b: 'text' }] }],
  ['accepted', 'x'.repeat(10)],
  ['accepted', undefined],
  ['refused', 'x'.repeat(11)],
  ['refused', [1, 2, 3]],
  ['refused', { a: { b: 1, c: 2, d: 3 } }],
  ['refused', { a: [{ b: 'x'.repeat(11) }] }],
  ['refused', { ['x'.repeat(11)]: 1 }],
])('a value of any form is %s by its limits: %j', (verdict, value) => {
  expect(anyValue({ max: 2, textMax: 10 }).safeParse(value).success).toBe(verdict === 'accepted');
});

test('of very many errors the first hundred are reported', () => {
  const fields = Array.from({ length: 300 }, (_, n) => [`field_${n}`, text()]);
  const parsed = z.object(Object.fromEntries(fields)).safeParse({});
  expect(Object.keys(refuseIssues(parsed.error!).body.error_details as object)).toHaveLength(100);
});
