import { assert } from '../../../engine/assert.ts';

/** Texts that stand for a timestamp: optional sign, digits, optional fraction, optional exponent. */
const EPOCH = /^([+-]?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/;
/** The most common form: whole seconds, or seconds with at most six fractional digits. */
const PLAIN = /^(\d{1,12})(?:\.(\d{1,6}))?$/;

const FIRST_SECOND = -62_135_596_800; // 0001-01-01T00:00:00Z
const LAST_SECOND = 253_402_300_799; // 9999-12-31T23:59:59Z
const SECONDS_A_DAY = 86_400;
/** Longest text worth reading: years of five digits are refused, and digits behind the sixth are cut. */
const MAX_LENGTH = 100;

/**
 * Unix seconds as a client sent them → ISO 8601 text in UTC with microseconds, or undefined for anything else. Exact:
 * no binary float is involved. Digits beyond the microsecond are cut.
 *
 *   "1651240791.1234567" → "2022-04-29T13:59:51.123456Z"
 *
 * Rule: events.md#timestamps.
 */
export function readTimestamp(sent: string): string | undefined {
  const text = sent.trim();
  const plain = PLAIN.exec(text);
  if (plain) return isoOf(Number(plain[1]), plain[2] === undefined ? 0 : Number(plain[2].padEnd(6, '0')));
  if (text.length > MAX_LENGTH) return undefined;
  const match = EPOCH.exec(text);
  if (!match) return undefined;
  const [, sign, whole, fraction = '', exponent = '0'] = match;
  const shift = Number(exponent) + 6;
  const digits = whole! + fraction;
  const micros = scaled(digits, whole!.length + shift);
  return micros === undefined ? undefined : isoOfMicros(sign === '-' ? -micros : micros);
}

/** The same of whole microseconds since 1970; undefined outside the years 0001 to 9999. */
export function isoOfMicros(micros: bigint): string | undefined {
  const seconds = micros / 1_000_000n;
  const rest = Number(micros % 1_000_000n);
  return rest < 0 ? isoOf(Number(seconds) - 1, rest + 1_000_000) : isoOf(Number(seconds), rest);
}

/** The same of milliseconds of the present with a fraction, as clocks give them. */
export function isoOfMs(milliseconds: number): string {
  const second = Math.floor(milliseconds / 1000);
  const iso = isoOf(second, Math.floor((milliseconds - second * 1000) * 1000));
  assert(iso, 'the present lies between the years 1 and 9999');
  return iso;
}

/** Whole Unix seconds of an ISO text in our own form, for expressions. */
export const unixSeconds = (iso: string): number => Math.floor(Date.parse(iso) / 1000);

/** The digits with the point after the first `pointAt` of them, truncated to a whole number. */
function scaled(digits: string, pointAt: number): bigint | undefined {
  if (/^0*$/.test(digits) || pointAt <= 0) return 0n;
  if (pointAt > digits.length + MAX_LENGTH) return undefined;
  return BigInt(digits.slice(0, pointAt).padEnd(pointAt, '0'));
}

// Events of one moment share their second, whose text is cached.
let knownSecond = Number.NaN;
let knownText = '';

function isoOf(second: number, micros: number): string | undefined {
  if (!(second >= FIRST_SECOND && second <= LAST_SECOND)) return undefined;
  if (second !== knownSecond) {
    knownText = textOfSecond(second);
    knownSecond = second;
  }
  return `${knownText}.${pad(micros, 6)}Z`;
}

function textOfSecond(second: number): string {
  const day = Math.floor(second / SECONDS_A_DAY);
  const left = second - day * SECONDS_A_DAY;
  const clock = `${pad(Math.floor(left / 3600), 2)}:${pad(Math.floor(left / 60) % 60, 2)}:${pad(left % 60, 2)}`;
  return `${dateOf(day)}T${clock}`;
}

/** Proleptic Gregorian date of a day counted from 1970-01-01, years starting in March so that leap days come last. */
function dateOf(day: number): string {
  const shifted = day + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1, 2)}`;
}

const pad = (value: number, width: number): string => String(value).padStart(width, '0');
