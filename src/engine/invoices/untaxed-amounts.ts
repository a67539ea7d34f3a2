import type { CouponUse } from '../credits/coupon.ts';
import { type Decimal, decimal, max, min, sum, ZERO } from '../money/decimal.ts';
import { COUPON_SHARE_DIGITS, roundToDigits } from '../money/precision.ts';
import type { Draft, DraftFee } from './draft.ts';

/**
 * What an invoice bills of each fee beyond the amount that is taxed, by key; fees that are missing bill what is taxed.
 * A fee is taxed on what is left of it after all that a progressive invoice billed for its usage, while the credit is
 * what that left after its coupons and notes; and a fee that takes over what another one has lost is taxed on it. So it
 * may be negative. With what is taxed they sum up to the net total.
 *
 *   fee 1200 that bears 1200, credit 700 → 500
 *   fee 1500 that bears 1000, credit 1500 → −500
 *
 * Rules: progressive-billing.md#taken-over, progressive-billing.md#credit-in-steps.
 */
export function untaxedAmounts({
  fees,
  progressiveCredits,
  couponUses,
}: Pick<Draft, 'fees' | 'progressiveCredits' | 'couponUses'>): Map<string, Decimal> {
  const credits = new Map(fees.map(({ key }) => [key, creditOf(key, progressiveCredits)]));
  const shares = new Map(fees.map(({ key }) => [key, shareOf(key, progressiveCredits)]));
  if (fees.every(({ key }) => credits.get(key)!.eq(shares.get(key)!))) return new Map();
  const left = new Map(fees.map((fee) => [fee.key, decimal(fee.amountCents).minus(credits.get(fee.key)!)]));
  for (const use of couponUses) takeCoupon(use, left);
  return new Map(fees.map((fee) => [fee.key, left.get(fee.key)!.minus(taxedOf(fee))]));
}

const taxedOf = ({ amountCents, preciseCouponsAmountCents }: DraftFee): Decimal =>
  decimal(amountCents).minus(preciseCouponsAmountCents);

const creditOf = (key: string, progressive: Draft['progressiveCredits']): Decimal =>
  sum(progressive.flatMap(({ parts }) => (parts.get(key) ?? []).map(({ creditCents }) => creditCents)));

const shareOf = (key: string, progressive: Draft['progressiveCredits']): Decimal =>
  sum(progressive.map(({ shares }) => shares.get(key) ?? ZERO));

/** Its amount comes off the fees that it is for, and off others where these bill less. */
function takeCoupon({ amountCents, shares }: CouponUse, left: Map<string, Decimal>): void {
  const keys = [...left.keys()];
  let rest = decimal(amountCents);
  for (const own of [keys.filter((key) => shares.has(key)), keys]) {
    const base = sum(own.map((key) => max(left.get(key)!, ZERO)));
    const amount = min(rest, base);
    if (!amount.gt(0)) continue;
    rest = rest.minus(amount);
    let open = amount;
    for (const [index, key] of own.entries()) {
      const most = max(left.get(key)!, ZERO);
      const exact = index === own.length - 1 ? open : roundToDigits(amount.times(most).div(base), COUPON_SHARE_DIGITS);
      const part = min(min(exact, most), open);
      open = open.minus(part);
      left.set(key, left.get(key)!.minus(part));
    }
    rest = rest.plus(open);
  }
}
