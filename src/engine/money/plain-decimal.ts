/**
 * A decimal number in parts: digits without leading and trailing zeros, and the position of the point counted from the
 * first digit.
 */
export interface DecimalParts {
  isNegative: boolean;
  /** Empty for zero. */
  digits: string;
  /** 0.012 → digits "12", point −1; 1200 → "12", 4. */
  point: number;
}

/**
 * How many characters the longest plain form has that is made. A double's range and 1 100 characters of a literal stay
 * below 1 800; longer ones are a defect of the input checks.
 */
const PLAIN_MAX = 10_000;
const LITERAL = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/;
const ZERO = 0x30;

/** Splits a literal by its characters, without arithmetic, whatever its exponent. */
export function decimalParts(literal: string): DecimalParts {
  const match = LITERAL.exec(literal);
  if (!match) throw new RangeError('a decimal is a finite number');
  const [, sign, whole, fraction, exponent] = match;
  const all = `${whole}${fraction}`;
  if (all === '') throw new RangeError('a decimal is a finite number');
  let from = 0;
  while (all.charCodeAt(from) === ZERO) from += 1;
  let to = all.length;
  while (to > from && all.charCodeAt(to - 1) === ZERO) to -= 1;
  return {
    isNegative: sign === '-' && to > from,
    digits: all.slice(from, to),
    point: whole!.length - from + Number(exponent ?? 0),
  };
}

/** Characters of the plain form, known before it is made. */
export function plainLength({ isNegative, digits, point }: DecimalParts): number {
  if (digits === '') return 1;
  const unsigned =
    point <= 0 ? 2 - point + digits.length : Math.max(point, digits.length + Number(point < digits.length));
  return unsigned + Number(isNegative);
}

/**
 * Plain decimal of a number that was taken apart, without trailing zeros and without a sign of zero.
 *
 *   11e-1 → "1.1", -0.0 → "0", 12e3 → "12000"
 */
export function plainText(parts: DecimalParts): string {
  const { isNegative, digits, point } = parts;
  if (digits === '') return '0';
  if (plainLength(parts) > PLAIN_MAX) throw new RangeError('a decimal of more than 10 000 characters');
  const sign = isNegative ? '-' : '';
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  if (point >= digits.length) return `${sign}${digits}${'0'.repeat(point - digits.length)}`;
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** Plain decimal of a literal; see plainText. */
export const plainDecimal = (literal: string): string => plainText(decimalParts(literal));
