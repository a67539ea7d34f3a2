import fc from 'fast-check';
import { isSafeNumber, LosslessNumber, parse as parseLossless } from 'lossless-json';
import { describe, expect, test } from 'vitest';
import { parseBody, parsePieces } from '../../src/platform/json/parse-body.ts';

const refusalOf = (text: string): unknown => {
  try {
    return parseBody(text, { keepLiterals: false });
  } catch (error) {
    return (error as { body: unknown }).body;
  }
};

describe('numbers of a body', () => {
  test.each([
    ['{"a":1}', 1],
    ['{"a":1e5}', 100_000],
    ['{"a":-1.5e-7}', -1.5e-7],
    ['{"a":1651240791.12345}', 1_651_240_791.12345],
    ['{"a":12345678901234567890}', '12345678901234567890'],
    ['{"a": -0.1234567890123456789}', '-0.1234567890123456789'],
    ['[12345678901234567890]', undefined],
  ])('a number keeps its written value: %s', (text, value) => {
    expect((parseBody(text, { keepLiterals: false }) as { a?: unknown }).a).toEqual(value);
  });

  test('numbers in events are kept as literals', () => {
    expect(parseBody('{"a":12345678901234567890}', { keepLiterals: true })).toEqual({
      a: new LosslessNumber('12345678901234567890'),
    });
  });

  test('numbers in metadata are kept as literals because metadata accepts texts only', () => {
    const kept = new LosslessNumber('9007199254740993');
    expect(parseBody('{"metadata":{"a":9007199254740993}}', { keepLiterals: false })).toEqual({
      metadata: { a: kept },
    });
    expect(parseBody('{"metadata":{"a":"9007199254740993"},"b":1}', { keepLiterals: false })).toEqual({
      metadata: { a: '9007199254740993' },
      b: 1,
    });
  });

  test.each([
    ['{"event":{"a":1e400}}', { a: ['invalid_format'] }],
    ['{"a":[{"b":[0,-1e999]}]}', { '0.b.1': ['invalid_format'] }],
    [`{"event":{"a":0.1${'0'.repeat(1_000_000)}1}}`, { a: ['value_is_too_long'] }],
    [`{"a":[1,${'1'.repeat(1101)}]}`, { 1: ['value_is_too_long'] }],
    [`[${'1'.repeat(1_000_000)}]`, { base: ['value_is_too_long'] }],
  ])(
    'a number beyond a double, or of more than 1 100 characters, is refused by its field: case %#',
    (text, details) => {
      expect(refusalOf(text)).toMatchObject({ status: 422, error_details: details });
    },
  );

  test('the longest double is read with all its digits', () => {
    const literal = `0.${'0'.repeat(323)}${'4'.repeat(751)}`;
    expect(parseBody(`[${literal}]`, { keepLiterals: true })).toEqual([new LosslessNumber(literal)]);
  });

  test.each([
    '{12345678901234567:1}',
    '{"a":1,12345678901234567 :1}',
    '[1234567890.12345678.9]',
    '[012345678901234567]',
    '[12345678901234567e]',
    '[-]',
    '["a"12345678901234567]',
    '[12345678901234567true]',
    '[--12345678901234567]',
    '[+12345678901234567]',
  ])('%s is not JSON', (text) => {
    expect(refusalOf(text)).toMatchObject({ status: 400 });
  });

  test('any JSON is read as a slow and lossless parser reads it', () => {
    const number = fc
      .tuple(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.bigInt(), fc.integer({ min: -320, max: 300 }))
      .chain(([a, b, e]) => fc.constantFrom(JSON.stringify(a), `${b}`, `${b % 100n}e${e}`, `-0.${b < 0n ? -b : b}`));
    const json = fc.letrec<{ any: string }>((tie) => ({
      any: fc.oneof(
        { depthSize: 'small' },
        number,
        fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
        fc.array(tie('any'), { maxLength: 5 }).map((items) => `[ ${items.join(' ,')}]`),
        fc
          .array(fc.tuple(fc.constantFrom('a', 'b', '__proto__', 'metadata', 'é'), tie('any')), { maxLength: 5 })
          .map((members) => `{${members.map(([key, value]) => `"${key}": ${value}`).join(',\n')}}`),
      ),
    })).any;
    const lossless = (text: string): unknown =>
      parseLossless(text, null, {
        parseNumber: (literal) => (isSafeNumber(literal) ? Number(literal) : new LosslessNumber(literal)),
        onDuplicateKey: ({ newValue }) => newValue,
      });
    fc.assert(
      fc.property(json, (text) => {
        fc.pre(!/\d[eE]\+?\d/.test(text)); // a large number with an exponent stays a number here
        expect(parseBody(text, { keepLiterals: true })).toEqual(lossless(text));
      }),
      { numRuns: 300 },
    );
  });
});

test('texts that look like marked numbers stay unchanged', () => {
  const body = { id: '9e377-12345678901234567', note: 'sum: 12345678901234567890', list: ['1e999'] };
  expect(parseBody(JSON.stringify(body), { keepLiterals: false })).toEqual(body);
});

describe('nesting of a body', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

  test('a body of 64 levels is read', () => {
    expect(parseBody(nested(64), { keepLiterals: false })).toBeInstanceOf(Array);
  });

  test.each([65, 1_000_000])('a body of %i levels is refused', (levels) => {
    expect(refusalOf(nested(levels))).toMatchObject({ status: 400 });
  });
});

describe('number of values in a body', () => {
  const members = (count: number) => `{${Array.from({ length: count }, (_, n) => `"k${n}":1`).join(',')}}`;
  const elements = (count: number) => `[${'1,'.repeat(count - 1)}1]`;

  test.each([
    ['1 000 members of an object', `{"a":${members(1000)},"b":${members(1000)}}`],
    ['99 000 elements of lists', elements(99_000)],
    ['quotes, braces and commas within a text', JSON.stringify({ a: '{"},['.repeat(30_000), b: '\\\\"'.repeat(500) })],
  ])('a body with %s is read', (_, text) => {
    expect(parseBody(text, { keepLiterals: false })).toEqual(JSON.parse(text));
  });

  test.each([
    ['1 001 members of an object', `{"a":${members(1001)}}`],
    ['420 000 members', members(420_000)],
    ['100 000 elements', elements(100_000)],
    ['1.7 million empty objects', `[${'{},'.repeat(1_700_000)}{}]`],
  ])('a body with %s has too many values', (_, text) => {
    expect(refusalOf(text)).toMatchObject({ status: 413, code: 'payload_too_large' });
  });

  test.each(['"', '{"a":"b\\', ']]]]', '{"a":1]', '[1,2'])(
    'the malformed body %s is left to the parser, which refuses it',
    (text) => {
      expect(refusalOf(text)).toMatchObject({ status: 400 });
    },
  );
});

test('numbers of a batch are replaced one event after the other, with a pause before each', () => {
  const events = Array.from({ length: 100 }, (_, n) => `{"properties":{"a":1234567890.12345678901,"n":${n}}}`);
  const pieces = parsePieces(`{"events":[${events.join(',')}]}`, { keepLiterals: true });
  let pauses = 0;
  let piece = pieces.next();
  for (; !piece.done; piece = pieces.next()) pauses += 1;
  expect(pauses).toBeGreaterThan(100);
  expect((piece.value as { events: unknown[] }).events[99]).toEqual({
    properties: { a: new LosslessNumber('1234567890.12345678901'), n: 99 },
  });
});
