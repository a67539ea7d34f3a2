import { describe, expect, test } from 'vitest';
import { type ExpressionEvent, evaluateExpression } from '../../../src/engine/metrics/evaluate-expression.ts';
import { parseExpression } from '../../../src/engine/metrics/parse-expression.ts';

const event = (properties: Record<string, unknown> = {}): ExpressionEvent => ({
  code: 'x',
  timestamp: 1_709_712_000,
  properties,
});

const evaluate = (source: string, properties?: Record<string, unknown>) =>
  evaluateExpression(parseExpression(source)!, event(properties));

describe('expressions', () => {
  test.each([
    ['event.properties.a + event.properties.b', { a: '1', b: '2' }, '3.0'],
    ['round(event.properties.value * event.properties.units)', { value: 2.4, units: 1 }, '2.0'],
    ['round(12.345, 2)', {}, '12.35'],
    ['ceil(12.351, 1)', {}, '12.4'],
    ['floor(12.351, 1)', {}, '12.3'],
    ['ceil(123, -1)', {}, '130.0'],
    ["concat(event.code, '-', 1)", {}, 'x-1'],
    ['-(2 + 3) * 2', {}, '-10.0'],
    ['least(1, 2) + greatest(1, 2)', {}, '3.0'],
    ['ceil(event.properties.a / 3, 1)', { a: '10' }, '3.4'],
    ['10 - 2 - 3', {}, '5.0'],
    ['12 / 2 / 3', {}, '2.0'],
    ['2 + 3 * 4', {}, '14.0'],
    ['2 - -3', {}, '5.0'],
    ['--3', {}, '3.0'],
    ['round(-2.5)', {}, '-3.0'],
    ['round(1234, -2.9)', {}, '1200.0'],
    ['0.1 + 0.2', {}, '0.3'],
    ['  ROUND ( 1.5 ) + Ceil(0.1)  ', {}, '3.0'],
    ['event.timestamp', {}, '1709712000.0'],
    ['event.properties.a', { a: 'eu' }, 'eu'],
    ['event.properties.a', { a: '1.50' }, '1.5'],
    ["concat(event.properties.a, 'B')", { a: '1.50' }, '1.50B'],
    ["concat('1', '2')", {}, '12'],
    ['least(3)', {}, '3.0'],
    ['event.properties.a_1', { a_1: true }, 'true'],
  ])('the expression %s with %j is %s', (source, properties, value) => {
    expect(evaluate(source, properties)).toEqual({ ok: true, value });
  });

  test.each([
    ['event.properties.b', { a: 1 }, 'Variable: b not found'],
    ['event.properties.b', { b: null }, 'Variable: b not found'],
    ['event.properties.toString', {}, 'Variable: toString not found'],
    ['event.properties.a + 1', { a: 'eu' }, 'Expected a decimal'],
    ["concat('1', '2') + 1", {}, 'Expected a decimal'],
    ["'5' + 1", {}, 'Expected a decimal'],
    ['round(event.code)', {}, 'Expected a decimal'],
    ['1 / 0', {}, 'Division by zero'],
    ['1 / event.properties.a', { a: '0.00' }, 'Division by zero'],
  ])('the expression %s with %j fails: %s', (source, properties, reason) => {
    expect(evaluate(source, properties)).toEqual({ ok: false, reason });
  });
});

test.each([
  ['1.1.1'],
  ['invalid'],
  ['.5'],
  ['5.'],
  ['round()'],
  ['round(1, 2, 3)'],
  ['concat()'],
  ['rOUND(1)'],
  ['power(2, 3)'],
  ['1 +'],
  ['1 2'],
  ['(1'],
  ['1)'],
  ['1e3'],
  ['1\t+ 1'],
  ['1\n'],
  ["'open"],
  ['event'],
  ['event.foo'],
  ['event.properties'],
  ['event.properties.1a'],
  ['event.properties.a.b'],
  ['Event.code'],
  ['round'],
  ['constructor(1)'],
  [''],
  ['+1'],
  ['('.repeat(1000) + '1' + ')'.repeat(1000)],
])('the expression %s does not parse', (source) => {
  expect(parseExpression(source)).toBeUndefined();
});

test('a chain of two thousand sums is evaluated', () => {
  expect(evaluate(Array.from({ length: 2000 }, () => '1').join('+'))).toEqual({ ok: true, value: '2000.0' });
});
