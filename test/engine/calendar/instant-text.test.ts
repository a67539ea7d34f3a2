import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import {
  instantOfStored,
  instantText,
  millisecondsText,
  secondsText,
} from '../../../src/engine/calendar/instant-text.ts';
import { inLongRun } from '../../support/long-run.ts';

const instantAt = (nanoseconds: bigint) => new Temporal.Instant(nanoseconds);

/** The last instant that the library holds, in seconds after 1970: the year 275760. */
const LAST_SECOND = 8_640_000_000_000;
const DIVISORS = [1, 1_000, 1_000_000, 10_000_000, 1_000_000_000];

/** Numbers between 0 and 1, the same at each run. */
function* numbers(seed: number): Generator<number, never> {
  let state = seed;
  while (true) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

/** A random instant: mostly of our century, some of all times, with zeros at the end of the second or none. */
function randomInstant(next: () => number): Temporal.Instant {
  const seconds = next() < 0.9 ? next() * 4e9 : (next() * 2 - 1) * LAST_SECOND;
  const divisor = DIVISORS[Math.floor(next() * DIVISORS.length)]!;
  const nanoseconds = Math.floor((next() * 1e9) / divisor) * divisor;
  return instantAt(BigInt(Math.trunc(seconds)) * 1_000_000_000n + BigInt(nanoseconds));
}

const stored = (text: string) => text.replace('T', ' ').replace('Z', '+00');

test('instants of all times have the texts of the library, and come back from them', () => {
  const source = numbers(20_240_301);
  const next = () => source.next().value;
  const wrong: string[] = [];
  for (let n = 0; n < inLongRun(1_000_000, 20_000); n += 1) {
    const instant = randomInstant(next);
    const text = instant.toString();
    const isSame = instantText(instant) === text && instantOfStored(stored(text)).equals(instant);
    // Cutting is what the first characters are, so that the library need not be asked for all.
    const isCut =
      n % 20 !== 0 ||
      (secondsText(instant) === instant.toString({ smallestUnit: 'second', roundingMode: 'trunc' }) &&
        millisecondsText(instant) === instant.toString({ smallestUnit: 'millisecond', roundingMode: 'trunc' }));
    if (!isSame || !isCut) wrong.push(text);
  }
  expect(wrong).toEqual([]);
});

test.each([
  ['the first instant of 1970', 0n],
  ['a nanosecond before 1970', -1n],
  ['a millisecond before 1970', -1_000_000n],
  ['a second before 1970', -1_000_000_000n],
  ['the year 0', -62_167_219_200_000_000_000n],
  ['the last nanosecond before the year 0', -62_167_219_200_000_000_001n],
  ['the last nanosecond of 9999', 253_402_300_799_999_999_999n],
  ['the year 10000', 253_402_300_800_000_000_000n],
  ['the first instant of all', -8_640_000_000_000_000_000_000n],
  ['the last instant of all', 8_640_000_000_000_000_000_000n],
])('%s has the texts of the library', (_name, nanoseconds) => {
  const instant = instantAt(nanoseconds);
  expect(instantText(instant)).toBe(instant.toString());
  expect(secondsText(instant)).toBe(instant.toString({ smallestUnit: 'second', roundingMode: 'trunc' }));
  expect(millisecondsText(instant)).toBe(instant.toString({ smallestUnit: 'millisecond', roundingMode: 'trunc' }));
});

test.each([
  ['2024-03-01 10:00:00+00', '2024-03-01T10:00:00Z'],
  ['2024-03-01 10:00:00.5+00', '2024-03-01T10:00:00.5Z'],
  ['2024-03-01 10:00:00.123456+00', '2024-03-01T10:00:00.123456Z'],
  ['0099-12-31 23:59:59.999999+00', '0099-12-31T23:59:59.999999Z'],
  ['2024-03-01 10:00:00+01', '2024-03-01T09:00:00Z'],
  ['2024-03-01 10:00:00+05:30', '2024-03-01T04:30:00Z'],
])('the column text %s is %s', (text, expected) => {
  expect(instantOfStored(text).toString()).toBe(expected);
});

test.each(['infinity', '', '2024-03-01', '2024-03-01 10:00:00'])('%j is no instant', (text) => {
  expect(() => instantOfStored(text)).toThrow(RangeError);
});
