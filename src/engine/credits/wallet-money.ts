import { type Cents, roundToCents } from '../money/cents.ts';
import { Decimal } from '../money/decimal.ts';
import { roundToDigits } from '../money/precision.ts';
import { toMainUnit, toSmallestUnit } from '../money/units.ts';

/** Fractional digits of credits. Rule: money-and-days.md#stored-precision. */
const CREDIT_DIGITS = 5;

/** The value of a wallet's credit. */
export interface CreditRate {
  /** Money in the main unit, > 0. */
  rate: Decimal;
  /** Decimals of the currency. */
  exponent: number;
}

/** Credits with the money that they are booked with. */
export interface BookedCredits {
  credits: Decimal;
  /** In the main unit. */
  amount: Decimal;
  amountCents: Cents;
}

/**
 * Credits that are purchased or granted: truncated to 5 decimals, their money rounded, and booked as the credits which
 * that money buys.
 *
 *   7 at 0.0333 → 0.23, 6.90691 credits
 *
 * Throws AmountOutOfRange if the money overflows. Rule: wallets.md#credits-to-money.
 */
export function bookedCredits(requested: Decimal, worth: CreditRate): BookedCredits {
  const { amountCents } = voidedCredits(requested, worth);
  return creditsOfMoney(amountCents, worth);
}

/**
 * Credits that are voided: booked as requested, truncated to 5 decimals. 14.28444999 at 1 → 14.28, 14.28444 credits.
 */
export function voidedCredits(requested: Decimal, { rate, exponent }: CreditRate): BookedCredits {
  const credits = requested.toDecimalPlaces(CREDIT_DIGITS, Decimal.ROUND_DOWN);
  const amountCents = roundToCents(toSmallestUnit(credits.times(rate), exponent));
  return { credits, amount: toMainUnit(amountCents, exponent), amountCents };
}

/** Money as credits: 100 cents at 0.3 → 3.33333. */
export function creditsOfMoney(amountCents: Cents, { rate, exponent }: CreditRate): BookedCredits {
  const amount = toMainUnit(amountCents, exponent);
  return { credits: roundToDigits(amount.div(rate), CREDIT_DIGITS), amount, amountCents };
}
