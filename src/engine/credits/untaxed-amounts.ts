import { type Decimal, decimal, min, sum, ZERO } from '../money/decimal.ts';

/** What an invoice took off its fees, and what they bear of it. */
export interface DiscountedInvoice {
  couponsCents: number;
  progressiveCreditCents: number;
  fees: readonly { id: string; isUsage: boolean; preciseCouponsAmountCents: Decimal }[];
}

/**
 * What an invoice billed of its usage fees without tax, by fee: they bear all that a progressive invoice billed, while
 * coupons and notes of that one have lowered its credit. Empty where the credit is what fees bear.
 *
 *   fee 1200 that bears 1200, credit 600, coupons 300 → 300
 *
 * Rule: credit-note-amounts.md#billed-without-tax.
 */
export function untaxedAmounts({
  couponsCents,
  progressiveCreditCents,
  fees,
}: DiscountedInvoice): Map<string, Decimal> {
  if (progressiveCreditCents === 0) return new Map();
  const borne = sum(fees.map(({ preciseCouponsAmountCents }) => preciseCouponsAmountCents));
  const untaxed = borne.minus(couponsCents).minus(progressiveCreditCents);
  const usage = fees.filter((fee) => fee.isUsage && fee.preciseCouponsAmountCents.gt(0));
  const byUsage = sum(usage.map(({ preciseCouponsAmountCents }) => preciseCouponsAmountCents));
  // Less than a cent is what shares were rounded by.
  if (untaxed.lt(1) || byUsage.isZero()) return new Map();
  const share = min(untaxed, byUsage).div(byUsage);
  return new Map(usage.map(({ id, preciseCouponsAmountCents: own }) => [id, own.times(share)]));
}

/** What progressive invoices billed of a fee, less what its own invoice billed of that once more without tax. */
export const progressivePart = (
  progressiveCents: number,
  { untaxed = ZERO, taxesRate }: { untaxed?: Decimal | undefined; taxesRate: Decimal },
): Decimal => decimal(progressiveCents).minus(untaxed.div(taxesRate.div(100).plus(1)));
