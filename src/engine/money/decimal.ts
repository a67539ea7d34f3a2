import { Decimal as Base } from 'decimal.js';

/**
 * The exact decimal number of the whole service: 60 significant digits, half away from zero, plain notation. Prices,
 * units, precise amounts, credits and percentages are `Decimal`; they never pass through binary floats.
 */
export const Decimal = Base.clone({ precision: 60, rounding: Base.ROUND_HALF_UP, toExpNeg: -40, toExpPos: 60 });
export type Decimal = Base;
/** One of the `Decimal.ROUND_…` modes. */
export type Rounding = Base.Rounding;

export const ZERO: Decimal = new Decimal(0);
export const ONE: Decimal = new Decimal(1);

/** A decimal from its text or from a safe integer. Throws on anything that is not a finite number. */
export function decimal(value: string | number | Decimal): Decimal {
  const parsed = new Decimal(value);
  if (!parsed.isFinite()) throw new RangeError('a decimal is a finite number');
  return parsed;
}

/**
 * Text of a decimal as the API shows it: plain notation with at least one fractional digit.
 *
 *   10 → "10.0", 0.125 → "0.125"
 *
 * Rule: json.md "decimals".
 */
export function decimalText(value: Decimal): string {
  const text = value.isZero() ? '0' : value.toFixed(); // zero may have a sign here, which must not be shown
  return text.includes('.') ? text : `${text}.0`;
}

/**
 * Plain text of a decimal, as `toFixed()` writes it. Numbers of tokens are whole and mostly below ten million: these
 * are one word of decimal.js, which is read without the search for digits that every other number needs.
 */
export const plainText = (value: Decimal): string =>
  value.e < WORD_DIGITS && value.d.length === 1 && value.e >= 0 && value.s === 1 ? String(value.d[0]) : value.toFixed();

/** Digits of the first word of a decimal. */
const WORD_DIGITS = 7;

export const min = (a: Decimal, b: Decimal): Decimal => (a.lt(b) ? a : b);
export const max = (a: Decimal, b: Decimal): Decimal => (a.gt(b) ? a : b);
export const sum = (values: Iterable<Decimal>): Decimal => {
  let total: Decimal = ZERO;
  for (const value of values) total = total.plus(value);
  return total;
};
