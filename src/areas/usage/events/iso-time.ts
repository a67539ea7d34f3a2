import { Temporal } from 'temporal-polyfill';

const MICROSECOND_DIGITS = 6;

/**
 * Microseconds since 1970 of a date and time, digits of its fraction and a zone, digits beyond the microsecond cut;
 * undefined for a day or a zone that does not exist.
 *
 *   "2026-03-09T23:59:59", "9999999", "+01:00" → 1773097199999999n
 */
export function microsOf(clock: string, fraction: string, zone: string): bigint | undefined {
  const digits = fraction.slice(0, MICROSECOND_DIGITS).padEnd(MICROSECOND_DIGITS, '0');
  try {
    return Temporal.Instant.from(`${clock}.${digits}${zone}`).epochNanoseconds / 1000n;
  } catch {
    return undefined; // a day or a zone that does not exist: there is no other way to check
  }
}
