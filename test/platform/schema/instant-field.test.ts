import { expect, test } from 'vitest';
import { parseBound, parseInstant } from '../../../src/platform/schema/instant-field.ts';

test.each([
  ['2024-03-05T12:12:00Z', '2024-03-05T12:12:00Z'],
  ['2024-03-05T12:12:00.123456789+02:00', '2024-03-05T10:12:00.123456Z'],
  ['2024-03-05T12:12:00', '2024-03-05T12:12:00Z'],
  ['2024-03-05 12:12', '2024-03-05T12:12:00Z'],
  ['2024-03-05', '2024-03-05T00:00:00Z'],
  ['1000-01-01T00:00:00Z', '1000-01-01T00:00:00Z'],
  ['8999-12-31T23:59:59.999999Z', '8999-12-31T23:59:59.999999Z'],
  ['0999-12-31T23:59:59Z', undefined],
  ['9000-01-01T00:00:00Z', undefined],
  ['9999-12-31T23:59:59Z', undefined],
  ['0000-01-01', undefined],
  ['-000001-01-01T00:00:00Z', undefined],
  ['+275760-01-01T00:00:00Z', undefined],
  ['2024-02-30T00:00:00Z', undefined],
  ['1709640720', undefined],
  ['soon', undefined],
  ['', undefined],
])('the instant %s is read as %s', (text, expected) => {
  expect(parseInstant(text)?.toString()).toBe(expected);
});

test.each([
  ['9999-12-31', '9999-12-31T00:00:00Z'],
  ['0001-01-01', '0001-01-01T00:00:00Z'],
  ['9999-12-31T23:59:59-05:00', undefined],
  ['0001-01-01T00:00:00+05:00', undefined],
  ['0000-01-01', undefined],
])('a time that is only compared may be any writable one: %s is read as %s', (text, expected) => {
  expect(parseBound(text)?.toString()).toBe(expected);
});
