import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { isoOfMicros, readTimestamp, unixSeconds } from '../../../../src/areas/usage/events/timestamps.ts';

describe('timestamps of events', () => {
  test.each([
    ['1651240791', '2022-04-29T13:59:51.000000Z'],
    ['1651240791.123', '2022-04-29T13:59:51.123000Z'],
    ['1651240791.123456', '2022-04-29T13:59:51.123456Z'],
    ['1651240791.1234569', '2022-04-29T13:59:51.123456Z'],
    [' 1651240791 ', '2022-04-29T13:59:51.000000Z'],
    ['+1651240791', '2022-04-29T13:59:51.000000Z'],
    ['1.651240791e9', '2022-04-29T13:59:51.000000Z'],
    ['1651240791123e-3', '2022-04-29T13:59:51.123000Z'],
    ['0', '1970-01-01T00:00:00.000000Z'],
    ['-0.5', '1969-12-31T23:59:59.500000Z'],
    ['-1', '1969-12-31T23:59:59.000000Z'],
    ['1e-9', '1970-01-01T00:00:00.000000Z'],
    ['0e9999', '1970-01-01T00:00:00.000000Z'],
    ['-62135596800', '0001-01-01T00:00:00.000000Z'],
    ['253402300799.999999', '9999-12-31T23:59:59.999999Z'],
    ['951782400', '2000-02-29T00:00:00.000000Z'],
  ])('the timestamp %s is read as %s', (sent, iso) => {
    expect(readTimestamp(sent)).toBe(iso);
  });

  test.each([
    '',
    ' ',
    'abc',
    'NaN',
    'Infinity',
    '2024-01-01T00:00:00Z',
    '1,5',
    '1.',
    '.5',
    '1e',
    '0x10',
    '-62135596801',
    '-62135596800.000001',
    '253402300800',
    '1e300',
    '9'.repeat(200),
  ])('the timestamp %j is refused', (sent) => {
    expect(readTimestamp(sent)).toBeUndefined();
  });

  test('every microsecond of ten thousand years is written as its instant', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n }), (micros) => {
        const text = isoOfMicros(micros)!;
        expect(Temporal.Instant.from(text).epochNanoseconds).toBe(micros * 1000n);
        expect(text).toHaveLength(27);
      }),
    );
  });

  test('expressions see timestamps in whole seconds, rounded down', () => {
    expect(unixSeconds('2022-04-29T13:59:51.999999Z')).toBe(1651240791);
    expect(unixSeconds('1969-12-31T23:59:59.500000Z')).toBe(-1);
  });
});
