/** An exact number: what the oracle computes with, so that it shares no arithmetic with the service. */
export interface Fraction {
  n: bigint;
  /** Above 0. */
  d: bigint;
}

const gcd = (a: bigint, b: bigint): bigint => (b === 0n ? (a < 0n ? -a : a) : gcd(b, a % b));

export function fraction(n: bigint, d = 1n): Fraction {
  const common = gcd(n, d) || 1n;
  const sign = d < 0n ? -1n : 1n;
  return { n: (sign * n) / common, d: (sign * d) / common };
}

/** Of a whole number or a plain decimal text. */
export function exact(value: string | number): Fraction {
  const text = String(value);
  const [, sign, whole, digits = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text)!;
  return fraction(BigInt(`${sign}${whole}${digits}`), 10n ** BigInt(digits.length));
}

export const ZERO = fraction(0n);
export const add = (a: Fraction, b: Fraction) => fraction(a.n * b.d + b.n * a.d, a.d * b.d);
const negate = (a: Fraction) => fraction(-a.n, a.d);
export const subtract = (a: Fraction, b: Fraction) => add(a, negate(b));
export const times = (a: Fraction, b: Fraction) => fraction(a.n * b.n, a.d * b.d);
export const over = (a: Fraction, b: Fraction) => fraction(a.n * b.d, a.d * b.n);
export const compare = (a: Fraction, b: Fraction) => Number(a.n * b.d > b.n * a.d) - Number(a.n * b.d < b.n * a.d);
export const isZero = ({ n }: Fraction) => n === 0n;
export const isNegative = ({ n }: Fraction) => n < 0n;
export const least = (a: Fraction, b: Fraction) => (compare(a, b) <= 0 ? a : b);
export const greatest = (a: Fraction, b: Fraction) => (compare(a, b) >= 0 ? a : b);
export const total = (list: readonly Fraction[]) => list.reduce(add, ZERO);

const floorDivide = (n: bigint, d: bigint) => n / d - (n % d < 0n ? 1n : 0n);

type Rounding = 'round' | 'ceil' | 'floor';

/** At so many digits after the point, below 0 before it: half away from zero, up or down. */
export function rounded(value: Fraction, digits: number, how: Rounding = 'round'): Fraction {
  const scale = digits >= 0 ? fraction(10n ** BigInt(digits)) : fraction(1n, 10n ** BigInt(-digits));
  const { n, d } = times(value, scale);
  const away = () => (n < 0n ? -floorDivide(-2n * n + d, 2n * d) : floorDivide(2n * n + d, 2n * d));
  const whole = how === 'floor' ? floorDivide(n, d) : how === 'ceil' ? -floorDivide(-n, d) : away();
  return over(fraction(whole), scale);
}

/** Plain decimal of a number that has one of at most `digits` places. */
export function decimalOf(value: Fraction, digits = 25): string {
  const { n, d } = times(rounded(value, digits), fraction(10n ** BigInt(digits)));
  if (d !== 1n) throw new Error('not a decimal');
  const text = (n < 0n ? -n : n).toString().padStart(digits + 1, '0');
  const places = text.slice(-digits).replace(/0+$/, '');
  return `${n < 0n ? '-' : ''}${text.slice(0, -digits)}${places === '' ? '' : `.${places}`}`;
}
