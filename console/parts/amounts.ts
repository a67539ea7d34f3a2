import { exponentOf, isCurrency } from '../../src/engine/money/currency.ts';

const LOCALE = globalThis.navigator?.language ?? 'en';

interface Signs {
  group: (digits: string) => string;
  decimal: string;
}
const signs: Signs = {
  group: (digits) => new Intl.NumberFormat(LOCALE).format(BigInt(digits)),
  decimal: new Intl.NumberFormat(LOCALE).formatToParts(1.5).find(({ type }) => type === 'decimal')?.value ?? '.',
};

/** An amount in the smallest unit as people write it; digits come from the engine's table, not from `Intl`. */
export function money(cents: number | null | undefined, currency: string | null | undefined): string {
  if (cents === null || cents === undefined) return '–';
  const exponent = currency && isCurrency(currency) ? exponentOf(currency) : 2;
  const digits = String(Math.abs(cents)).padStart(exponent + 1, '0');
  const whole = digits.slice(0, digits.length - exponent);
  const number = signs.group(whole) + (exponent === 0 ? '' : signs.decimal + digits.slice(-exponent));
  return `${cents < 0 ? '−' : ''}${withSymbol(number, currency ?? '')}`;
}

/** A price in the main unit, of which no digit is dropped. */
export function price(amount: string | null | undefined, currency: string | null | undefined): string {
  if (amount === null || amount === undefined) return '–';
  const exponent = currency && isCurrency(currency) ? exponentOf(currency) : 2;
  return withSymbol(decimal(amount, exponent), currency ?? '');
}

const LONGEST_TYPED_DECIMALS = 12;

/**
 * A price that may be a quotient, as the average of ranges is. A longer fraction than people type is cut after six
 * digits that count, and marked by `≈`.
 */
export function averagePrice(amount: string | null | undefined, currency: string | null | undefined): string {
  const [whole = '', fraction = ''] = (amount ?? '').split('.');
  if (fraction.length <= LONGEST_TYPED_DECIMALS) return price(amount, currency);
  return `≈ ${price(`${whole}.${/^0*\d{6}/.exec(fraction)?.[0] ?? fraction}`, currency)}`;
}

function withSymbol(number: string, currency: string): string {
  if (!/^[A-Z]{3}$/.test(currency)) return number;
  const parts = new Intl.NumberFormat(LOCALE, {
    style: 'currency',
    currency,
    currencyDisplay: 'narrowSymbol',
    maximumFractionDigits: 0,
    minimumFractionDigits: 0,
  }).formatToParts(0);
  return parts.map(({ type, value }) => (type === 'integer' ? number : value)).join('');
}

/** A decimal text with its digits grouped and needless zeros dropped, down to `least` decimals. */
export function decimal(text: string | number | null | undefined, least = 0): string {
  if (text === null || text === undefined) return '–';
  const [, sign = '', whole = '0', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(text)) ?? [];
  if (!/^-?\d+(?:\.\d+)?$/.test(String(text))) return String(text);
  const kept = fraction.replace(/0+$/, '').padEnd(least, '0');
  return `${sign && '−'}${signs.group(whole)}${kept === '' ? '' : signs.decimal + kept}`;
}

export const count = (value: number | null | undefined): string => (value == null ? '–' : decimal(String(value)));

/**
 * The change of an amount in percent, with one decimal, half up: 12345 against 11000 is `+12.2 %`. Undefined where the
 * base is 0. Rule: console.md#figures.
 */
export function changeOf(now: number, before: number): string | undefined {
  if (before === 0) return undefined;
  const scaled = BigInt(now - before) * 1000n;
  const base = BigInt(Math.abs(before));
  const isLess = scaled < 0n;
  const tenths = ((isLess ? -scaled : scaled) * 2n + base) / (base * 2n);
  const text = `${signs.group(String(tenths / 10n))}${signs.decimal}${tenths % 10n}`;
  return `${tenths === 0n ? '±' : isLess ? '−' : '+'}${text} %`;
}
