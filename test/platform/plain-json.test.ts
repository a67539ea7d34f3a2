import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { Decimal } from '../../src/engine/money/decimal.ts';
import { plainJson } from '../../src/platform/plain-json.ts';

test.each([
  ['instants of any digits', { at: Temporal.Instant.from('2024-03-01T10:00:00.25Z'), list: [Temporal.Now.instant()] }],
  ['days', { day: Temporal.PlainDate.from('2024-02-29') }],
  ['decimals', { whole: new Decimal('12.50'), small: new Decimal('1e-15'), great: new Decimal('1e30') }],
  ['numbers', [0, -0, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 1e21]],
  ['what is undefined', { none: undefined, list: [undefined, null, 1], null: null }],
  ['nested objects, empty ones', { a: { b: [{ c: {} }, []] }, '': true }],
  ['names that objects inherit', JSON.parse('{"__proto__":{"x":1},"constructor":"y","toString":"z"}')],
  ['names that are numbers, which come first', { b: 1, 2: 2, a: 3, 1: 4 }],
  ['texts', { odd: '\u0000\ud800"\\\u2028' }],
])('%s are what JSON brings back', (_name, value) => {
  const throughText = JSON.parse(JSON.stringify(value));
  expect(plainJson(value)).toStrictEqual(throughText);
  expect(JSON.stringify(plainJson(value))).toBe(JSON.stringify(value));
});
