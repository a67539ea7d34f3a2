import { LosslessNumber } from 'lossless-json';
import { describe, expect, test } from 'vitest';
import { parseBody } from '../../src/ingress/read-body.ts';

const refusalOf = (text: string): unknown => {
  try {
    return parseBody(text, false);
  } catch (error) {
    return (error as { body: unknown }).body;
  }
};

describe('numbers of a body keep the value that was written', () => {
  test.each([
    ['{"a":1}', 1],
    ['{"a":1e5}', 100_000],
    ['{"a":-1.5e-7}', -1.5e-7],
    ['{"a":1651240791.12345}', 1_651_240_791.12345],
    ['{"a":12345678901234567890}', '12345678901234567890'],
    ['{"a": -0.1234567890123456789}', '-0.1234567890123456789'],
    ['[12345678901234567890]', undefined],
  ])('%s', (text, value) => {
    expect((parseBody(text, false) as { a?: unknown }).a).toEqual(value);
  });

  test('events keep the literal', () => {
    expect(parseBody('{"a":12345678901234567890}', true)).toEqual({ a: new LosslessNumber('12345678901234567890') });
  });

  test('metadata keeps the literal, for it takes texts only', () => {
    const kept = new LosslessNumber('9007199254740993');
    expect(parseBody('{"metadata":{"a":9007199254740993}}', false)).toEqual({ metadata: { a: kept } });
    expect(parseBody('{"metadata":{"a":"9007199254740993"},"b":1}', false)).toEqual({
      metadata: { a: '9007199254740993' },
      b: 1,
    });
  });

  test('one beyond a double is refused', () => {
    expect(refusalOf('{"event":{"a":1e400}}')).toMatchObject({ status: 422, error_details: { a: ['invalid_format'] } });
  });
});

test('texts that look like such numbers stay as they are', () => {
  const body = { id: '9e377-12345678901234567', note: 'sum: 12345678901234567890', list: ['1e999'] };
  expect(parseBody(JSON.stringify(body), false)).toEqual(body);
});

describe('nesting', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

  test('of 64 levels is read', () => {
    expect(parseBody(nested(64), false)).toBeInstanceOf(Array);
  });

  test.each([65, 1_000_000])('of %i levels is refused', (levels) => {
    expect(refusalOf(nested(levels))).toMatchObject({ status: 400 });
  });
});

describe('how much a body may hold', () => {
  const members = (count: number) => `{${Array.from({ length: count }, (_, n) => `"k${n}":1`).join(',')}}`;
  const elements = (count: number) => `[${'1,'.repeat(count - 1)}1]`;

  test.each([
    ['1 000 members of an object', `{"a":${members(1000)},"b":${members(1000)}}`],
    ['99 000 elements of lists', elements(99_000)],
    ['quotes, braces and commas within a text', JSON.stringify({ a: '{"},['.repeat(30_000), b: '\\\\"'.repeat(500) })],
  ])('%s are read', (_, text) => {
    expect(parseBody(text, false)).toEqual(JSON.parse(text));
  });

  test.each([
    ['1 001 members of an object', `{"a":${members(1001)}}`],
    ['420 000 members', members(420_000)],
    ['100 000 elements', elements(100_000)],
    ['1.7 million empty objects', `[${'{},'.repeat(1_700_000)}{}]`],
  ])('%s are too many', (_, text) => {
    expect(refusalOf(text)).toMatchObject({ status: 413, code: 'payload_too_large' });
  });

  test.each(['"', '{"a":"b\\', ']]]]', '{"a":1]', '[1,2'])(
    '%s is left to the parser, which takes none of it',
    (text) => {
      expect(refusalOf(text)).toMatchObject({ status: 400 });
    },
  );
});
