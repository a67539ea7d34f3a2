import { Temporal } from 'temporal-polyfill';
import type { Instant } from './instants.ts';

/**
 * Instants to texts and back, letter by letter what the library gives, which takes 10 µs for a text and is asked for a
 * thousand of them by an invoice of twelve fees. Years outside 0000 to 9999 are left to the library.
 */

const MS = 1_000_000n;
/** `2024-03-01T00:00:00.000Z`; years of more than four digits are longer. */
const ISO_LENGTH = 24;
const SECONDS_END = 19;
const MILLISECONDS_END = 23;

/** `2024-03-01T10:00:00.25Z`: UTC, with as many digits of the second as it needs, none to nine. */
export function instantText(instant: Instant): string {
  const ms = instant.epochMilliseconds;
  const iso = new Date(ms).toISOString();
  if (iso.length !== ISO_LENGTH) return instant.toString();

  const below = Number(instant.epochNanoseconds - BigInt(ms) * MS);
  if (below === 0 && ms % 1000 === 0) return `${iso.slice(0, SECONDS_END)}Z`;
  const digits = below === 0 ? '' : String(below).padStart(6, '0');
  return `${withoutLastZeros(iso.slice(0, MILLISECONDS_END) + digits)}Z`;
}

/** `2024-03-01T10:00:00Z`: UTC, cut to whole seconds. */
export function secondsText(instant: Instant): string {
  const iso = new Date(instant.epochMilliseconds).toISOString();
  if (iso.length === ISO_LENGTH) return `${iso.slice(0, SECONDS_END)}Z`;
  return instant.toString({ smallestUnit: 'second', roundingMode: 'trunc' });
}

/** `2024-03-01T10:00:00.250Z`: UTC, cut to milliseconds. */
export function millisecondsText(instant: Instant): string {
  const iso = new Date(instant.epochMilliseconds).toISOString();
  return iso.length === ISO_LENGTH ? iso : instant.toString({ smallestUnit: 'millisecond', roundingMode: 'trunc' });
}

function withoutLastZeros(text: string): string {
  let end = text.length;
  while (text.charCodeAt(end - 1) === 48) end -= 1;
  return text.slice(0, end);
}

/** As Postgres writes a timestamptz while its zone is UTC: a blank, up to six digits of the second, `+00`. */
const STORED = /^(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?\+00$/;

/** The instant of a timestamptz column. @throws RangeError for a text that is no instant */
export function instantOfStored(text: string): Instant {
  const parts = STORED.exec(text);
  // Date.UTC reads the years 0 to 99 as 1900 to 1999.
  if (parts === null || text.startsWith('00')) return Temporal.Instant.from(text);

  const [, year, month, day, hour, minute, second, digits] = parts;
  const ms = Date.UTC(+year!, +month! - 1, +day!, +hour!, +minute!, +second!);
  if (digits === undefined) return Temporal.Instant.fromEpochMilliseconds(ms);
  return new Temporal.Instant(BigInt(ms) * MS + BigInt(digits.padEnd(9, '0')));
}
