import { exponentOf, isCurrency } from '../../src/engine/money/currency.ts';

export const exponentIn = (currency: string): number => (isCurrency(currency) ? exponentOf(currency) : 2);

/** An amount in the main unit as whole smallest units; undefined where it is none, or has too many decimals. */
export function centsOf(text: string, exponent: number): number | undefined {
  const [, whole, fraction = ''] = /^(\d{1,12})(?:\.(\d*))?$/.exec(text.trim()) ?? [];
  if (whole === undefined || fraction.length > exponent) return undefined;
  return Number(whole + fraction.padEnd(exponent, '0'));
}

export function amountText(cents: number, exponent: number): string {
  if (exponent === 0) return String(cents);
  const digits = String(cents).padStart(exponent + 1, '0');
  return `${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`;
}

/** What a person typed as an amount in `currency`, in its smallest unit; what is no amount goes out as it is. */
export const typedCents = (text: string, currency: string): number | string =>
  centsOf(text, exponentIn(currency)) ?? text;

/** An amount as it stands in a field of a form. */
export const fieldAmount = (cents: number, currency: string): string => amountText(cents, exponentIn(currency));

/** Units as typed times a price in the smallest unit, half up: `1.5` × 101 is 152; undefined where units are none. */
export function productCents(units: string, cents: number): number | undefined {
  const [, whole, fraction = ''] = /^(\d{1,12})(?:\.(\d{1,10}))?$/.exec(units.trim()) ?? [];
  if (whole === undefined) return undefined;
  const base = 10n ** BigInt(fraction.length);
  return Number((BigInt(whole + fraction) * BigInt(cents) * 2n + base) / (base * 2n));
}
