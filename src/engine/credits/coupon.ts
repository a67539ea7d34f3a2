import { type Cents, roundToCents, subtractCents } from '../money/cents.ts';
import { type Decimal, decimal, min, sum, ZERO } from '../money/decimal.ts';
import { COUPON_SHARE_DIGITS, roundToDigits } from '../money/precision.ts';

export const COUPON_TYPES = ['fixed_amount', 'percentage'] as const;
export type CouponType = (typeof COUPON_TYPES)[number];

export const COUPON_FREQUENCIES = ['once', 'recurring', 'forever'] as const;
export type CouponFrequency = (typeof COUPON_FREQUENCIES)[number];

/** Kinds of limits, in the order in which coupons are applied. */
export const COUPON_LIMITS = ['metrics', 'plans', 'none'] as const;
export type CouponLimit = (typeof COUPON_LIMITS)[number];

/** A coupon that a customer has, as an invoice sees it. */
export interface ActiveCoupon {
  /** Id of the applied coupon. */
  id: string;
  code: string;
  frequency: CouponFrequency;
  limit: CouponLimit;
  /** Keys of the fees that a limited coupon reduces. */
  eligible: ReadonlySet<string>;
  /** `once`: the rest of it; otherwise the amount of each period. */
  worth: { type: 'fixed_amount'; amountCents: Cents; currency: string } | { type: 'percentage'; rate: Decimal };
  /** For a recurring coupon: the periods left. */
  periodsLeft: number | null;
}

/** What a limited coupon is limited to; structural: its row can be passed. */
export interface LimitedCoupon {
  limited_billable_metrics: boolean;
  /** Overrides of the plans among them. */
  plan_ids: readonly string[];
  metric_ids: readonly string[];
}

/**
 * Whether a limited coupon may reduce a fee: one limited to metrics the usage fees on them, one limited to plans every
 * fee of a subscription to them. A coupon without limits may reduce all fees and is not asked.
 *
 * Rule: coupons.md#on-an-invoice.
 */
export const mayReduce = (coupon: LimitedCoupon, fee: { plan_id: string; metric_id: string | undefined }): boolean =>
  coupon.limited_billable_metrics
    ? fee.metric_id !== undefined && coupon.metric_ids.includes(fee.metric_id)
    : coupon.plan_ids.includes(fee.plan_id);

/** A fee as coupons see it. */
export interface DiscountedFee {
  key: string;
  amountCents: Cents;
  /** The amount subtracted so far, 5 decimals. */
  preciseCouponsAmountCents: Decimal;
}

/** The effect of one coupon on one invoice. */
export interface CouponUse {
  coupon: ActiveCoupon;
  amountCents: Cents;
  /** The base from which the amount was subtracted. */
  base: Decimal;
  /** For each eligible fee: its amount before, and the amount subtracted, 5 decimals. */
  shares: ReadonlyMap<string, { of: Decimal; amount: Decimal }>;
  /** Periods left afterwards, of a recurring one. */
  periodsLeft: number | null;
  isUsedUp: boolean;
}

/**
 * Subtracts coupons from the fees of one invoice: first those limited to metrics, then those limited to plans, then the
 * rest, in the given order within each class, until nothing is left.
 *
 * coupons        active ones of the customer, oldest first
 * subTotalCents  fees minus what was billed progressively
 *
 * Rule: coupons.md#on-an-invoice.
 */
export function useCoupons<Fee extends DiscountedFee>(input: {
  coupons: readonly ActiveCoupon[];
  currency: string;
  fees: readonly Fee[];
  subTotalCents: Cents;
}): { uses: CouponUse[]; fees: Fee[] } {
  const ordered = COUPON_LIMITS.flatMap((limit) => input.coupons.filter((coupon) => coupon.limit === limit));
  const uses: CouponUse[] = [];
  let fees = [...input.fees];
  let left = input.subTotalCents;
  for (const coupon of ordered) {
    if (left <= 0) break;
    const use = useCoupon(coupon, fees, left, input.currency);
    if (use === undefined) continue;
    uses.push(use);
    left = subtractCents(left, use.amountCents);
    fees = fees.map((fee) => ({
      ...fee,
      preciseCouponsAmountCents: fee.preciseCouponsAmountCents.plus(use.shares.get(fee.key)?.amount ?? ZERO),
    }));
  }
  return { uses, fees };
}

/** The amount of one coupon; undefined if it waits for another invoice. */
function useCoupon(
  coupon: ActiveCoupon,
  fees: readonly DiscountedFee[],
  subTotalCents: Cents,
  currency: string,
): CouponUse | undefined {
  const { worth } = coupon;
  if (worth.type === 'fixed_amount' && worth.currency !== currency) return undefined;
  const eligible = coupon.limit === 'none' ? fees : fees.filter(({ key }) => coupon.eligible.has(key));
  if (eligible.length === 0) return undefined;
  // Shares of fees have decimals, so a limited coupon is capped at the rest of the invoice.
  const base =
    coupon.limit === 'none' ? decimal(subTotalCents) : min(sum(eligible.map(leftOf)), decimal(subTotalCents));
  const amountCents = worth.type === 'percentage' ? percentageOf(base, worth.rate) : atMost(worth.amountCents, base);
  const periodsLeft = coupon.periodsLeft === null ? null : Math.max(0, coupon.periodsLeft - 1);
  return {
    coupon,
    amountCents,
    base,
    shares: new Map(eligible.map((fee) => [fee.key, { of: leftOf(fee), amount: shareOf(fee, amountCents, base) }])),
    periodsLeft,
    isUsedUp: isUsedUp(coupon, amountCents, periodsLeft),
  };
}

const leftOf = ({ amountCents, preciseCouponsAmountCents }: DiscountedFee): Decimal =>
  decimal(amountCents).minus(preciseCouponsAmountCents);

function percentageOf(base: Decimal, rate: Decimal): Cents {
  const exact = base.times(rate).div(100);
  return roundToCents(exact.gte(base) ? base : exact);
}

const atMost = (amountCents: Cents, base: Decimal): Cents => roundToCents(min(decimal(amountCents), base));

function shareOf(fee: DiscountedFee, amountCents: Cents, base: Decimal): Decimal {
  if (base.isZero()) return ZERO;
  const left = leftOf(fee);
  return min(roundToDigits(decimal(amountCents).times(left).div(base), COUPON_SHARE_DIGITS), left);
}

function isUsedUp({ frequency, worth }: ActiveCoupon, amountCents: Cents, periodsLeft: number | null): boolean {
  if (frequency === 'forever') return false;
  if (frequency === 'recurring') return periodsLeft === 0;
  return worth.type === 'percentage' || amountCents >= worth.amountCents;
}
