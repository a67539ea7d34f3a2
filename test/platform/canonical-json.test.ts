import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Decimal } from '../../src/engine/money/decimal.ts';
import { decimalParts, plainText } from '../../src/engine/money/plain-decimal.ts';
import { canonicalDigest, canonicalJson } from '../../src/platform/canonical-json.ts';
import { inLongRun } from '../support/long-run.ts';

test.each([
  [{ b: 1, a: [true, null, 'x'] }, '{"a":[true,null,"x"],"b":1}'],
  [{ a: undefined, b: {} }, '{"b":{}}'],
  [[1, 1.5, -0, 1e21, 9_007_199_254_740_991], '[1,1.5,0,1000000000000000000000,9007199254740991]'],
  [new Decimal('1.50'), '1.5'],
  [
    'quote " backslash \\ line \n é \u2028 \ud800 \u007f',
    '"quote \\" backslash \\\\ line \\n é \u2028 \\ud800 \u007f"',
  ],
])('%j is written as %s', (value, text) => {
  expect(canonicalJson(value)).toBe(text);
});

test('the digest of what was stored before stays the same', () => {
  const inputs = { fee_type: 'charge', price: { properties: { amount: '0.1' } }, usage: { events_count: 1 } };
  expect(canonicalDigest(inputs).toString('hex')).toBe(
    '99419d23d6ce5d3e7c8940902afd14e5f37fe3f5c1b74dacb741f156fd193159',
  );
});

/** The form in its plainest words: every number by its digits, every text by the library. */
function reference(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'number') return plainText(decimalParts(String(value)));
  if (typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(reference).join(',')}]`;
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${entries.map(([key, field]) => `${JSON.stringify(key)}:${reference(field)}`).join(',')}}`;
}

const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme-ascii' }), fc.string());
const numbers = fc.oneof(fc.maxSafeInteger(), fc.integer(), fc.double({ noNaN: true, min: -1e60, max: 1e60 }));
const { value: values } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    texts,
    numbers.filter((number) => Math.abs(number) > 1e-60 || number === 0),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value')),
    fc.dictionary(texts, tie('value')),
  ),
}));

test('canonical JSON is what its rule says, byte for byte, for any value', () => {
  fc.assert(
    fc.property(values, (value) => {
      expect(canonicalJson(JSON.parse(JSON.stringify(value)))).toBe(reference(JSON.parse(JSON.stringify(value))));
    }),
    { numRuns: inLongRun(10_000, 2000) },
  );
});
