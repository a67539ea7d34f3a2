import { expect, test } from 'vitest';
import {
  COUNT_KINDS,
  INPUT_KINDS,
  isKind,
  isTokenKind,
  KINDS,
  kindOfProperty,
  OUTPUT_KINDS,
  partsOfProperties,
  propertyOf,
  TOKEN_KINDS,
} from '../../../src/engine/ai/kinds.ts';
import { KeptNumber } from '../../../src/engine/metrics/property-text.ts';

test('there are eight kinds of input tokens, four of output tokens and seven of counts', () => {
  expect([INPUT_KINDS.length, OUTPUT_KINDS.length, COUNT_KINDS.length]).toEqual([8, 4, 7]);
  expect([...INPUT_KINDS, ...OUTPUT_KINDS]).toEqual([...TOKEN_KINDS]);
  expect(new Set(KINDS).size).toBe(19);
});

test.each([
  ['input', 'tokens_input'],
  ['cache_write_1h', 'tokens_cache_write_1h'],
  ['reasoning', 'tokens_reasoning'],
  ['audio_seconds', 'count_audio_seconds'],
  ['web_search', 'count_web_search'],
] as const)('the part of kind %s stands in the property %s', (kind, property) => {
  expect(propertyOf(kind)).toBe(property);
  expect(kindOfProperty(property)).toBe(kind);
});

test.each(['tokens', 'input', 'count_input', 'tokens_images', 'constructor', '__proto__', 'input_tokens'])(
  'the property %s holds no part',
  (property) => {
    expect(kindOfProperty(property)).toBeUndefined();
  },
);

test('a name that every object inherits is no kind', () => {
  expect(isKind('constructor')).toBe(false);
  expect(isKind('cache_read')).toBe(true);
  expect(isTokenKind('images')).toBe(false);
});

test('parts are read from texts, numbers and kept literals, and what is no quantity is absent', () => {
  const parts = partsOfProperties({
    tokens_input: '107',
    tokens_cache_read: 3712,
    count_audio_seconds: new KeptNumber('203.000000000000000001'),
    tokens_output: '0',
    tokens_reasoning: '-1',
    tokens_output_audio: 'many',
    tokens: '3819',
    __proto__: { tokens_input_audio: '5' },
  });
  expect(Object.fromEntries(Object.entries(parts).map(([kind, quantity]) => [kind, quantity.toFixed()]))).toEqual({
    input: '107',
    cache_read: '3712',
    output: '0',
    audio_seconds: '203.000000000000000001',
  });
});
