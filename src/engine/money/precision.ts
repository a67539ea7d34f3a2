import { Decimal } from './decimal.ts';

/**
 * Fractional digits that stored precise values keep. Rules: money-and-days.md#stored-precision,
 * money-and-days.md#numbers.
 */
export const PRECISE_AMOUNT_DIGITS = 15;
export const TAX_RATE_DIGITS = 5;
/** For the amount that coupons subtract from a fee. */
export const COUPON_SHARE_DIGITS = 5;

/** `value` as it is stored with `digits` fractional digits, half away from zero. Later steps read the stored value. */
export const roundToDigits = (value: Decimal, digits: number): Decimal =>
  value.toDecimalPlaces(digits, Decimal.ROUND_HALF_UP);
