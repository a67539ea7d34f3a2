import { assert } from '../assert.ts';
import { type Decimal, decimal } from '../money/decimal.ts';

/** Plain digits with an optional fraction and a short exponent, as number libraries print prices; no sign. */
const AMOUNT = /^\d+(\.\d+)?(e[+-]?\d{1,2})?$/i;

/** How many characters an amount may have: more than any price has, and few enough to compute with. */
export const AMOUNT_TEXT_MAX = 64;

/**
 * Whether a value is an "amount" of charge properties: a text holding a finite decimal ≥ 0, of at most 64 characters.
 * Rule: charges.md#properties.
 */
export const isAmountText = (value: unknown): value is string => isDecimal(value) && value.length <= AMOUNT_TEXT_MAX;

const isDecimal = (value: unknown): value is string => typeof value === 'string' && AMOUNT.test(value);

/** The decimal of an amount in properties that passed validation. */
export function amountOf(value: unknown): Decimal {
  assert(isDecimal(value), 'amounts of stored properties are texts of decimals');
  return decimal(value);
}

/**
 * An amount as it is stored and shown: as it was sent, but without an exponent ("2e-5" → "0.00002"). Rule: json.md
 * "decimals".
 */
export const plainAmount = (text: string): string => (/e/i.test(text) ? decimal(text).toFixed() : text);
