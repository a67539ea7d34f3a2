import type { Cents } from './cents.ts';
import { Decimal } from './decimal.ts';

/** An amount in the main unit as an exact amount in the smallest one: 0.125 USD → 12.5. Not rounded. */
export const toSmallestUnit = (amount: Decimal, exponent: number): Decimal =>
  amount.times(new Decimal(10).pow(exponent));

/** An amount in the smallest unit as an exact amount in the main one: 1250 cents → 12.5 USD. */
export const toMainUnit = (amount: Decimal | Cents, exponent: number): Decimal =>
  new Decimal(amount).div(new Decimal(10).pow(exponent));
