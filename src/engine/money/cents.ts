import { Decimal } from './decimal.ts';

declare const brand: unique symbol;

/** Amount in the smallest unit of its currency: a safe integer. */
export type Cents = number & { readonly [brand]: 'Cents' };

/**
 * An amount that a JSON number or a `bigint` column cannot hold exactly. Callers can cause it with absurd units or
 * prices, so it has its own class, which commands may turn into a refusal.
 */
export class AmountOutOfRange extends RangeError {
  override name = 'AmountOutOfRange';
}

/** `value` as cents. Throws `AmountOutOfRange` unless it is a safe integer; −0 becomes 0. */
export function cents(value: number): Cents {
  if (!Number.isSafeInteger(value)) throw new AmountOutOfRange('an amount in cents is a safe integer');
  return (value + 0) as Cents;
}

export const ZERO_CENTS: Cents = cents(0);

/**
 * Rounds an amount in smallest units to whole ones, half away from zero.
 *
 *   0.5 → 1, 1.5 → 2, −0.5 → −1
 *
 * Rule: money-and-days.md#rounding "rounding to cents".
 */
export function roundToCents(amount: Decimal): Cents {
  return cents(amount.toDecimalPlaces(0, Decimal.ROUND_HALF_UP).toNumber());
}

/** Truncates an amount in smallest units to whole ones: 332.58 → 332. */
export function truncateToCents(amount: Decimal): Cents {
  return cents(amount.toDecimalPlaces(0, Decimal.ROUND_DOWN).toNumber());
}

export const addCents = (a: Cents, b: Cents): Cents => cents(a + b);
export const subtractCents = (a: Cents, b: Cents): Cents => cents(a - b);
export const sumCents = (amounts: Iterable<Cents>): Cents => {
  let total = ZERO_CENTS;
  for (const amount of amounts) total = addCents(total, amount);
  return total;
};
