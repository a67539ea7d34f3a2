import { addCents, type Cents } from '../money/cents.ts';
import { type Decimal, decimal, sum } from '../money/decimal.ts';
import { COUPON_SHARE_DIGITS, roundToDigits } from '../money/precision.ts';
import { type FeeTaxes, taxBase, taxFee, taxOn } from '../taxes/tax-fee.ts';
import type { Recorder } from './explanation-step.ts';
import type { StoredTail } from './stored-inputs.ts';

export interface Tail extends FeeTaxes {
  preciseCouponsAmountCents: Decimal;
}

/**
 * The amounts subtracted from a fee before taxes, its taxes and its total. Rules: fee-explanations.md "tail",
 * taxes.md#computation, coupons.md#on-an-invoice.
 */
export function tailSteps(
  recorder: Recorder,
  tail: StoredTail,
  fee: { amountCents: Cents; preciseAmountCents: Decimal },
): Tail {
  const progressive = decimal(tail.progressive_credit_cents);
  if (!progressive.isZero()) recorder.add('progressive_credit', {}, progressive, 'I:G.2');
  const shares = tail.coupons.map((coupon) => {
    const [base, of] = [decimal(coupon.base), decimal(coupon.share_of)];
    const exact = base.isZero() ? base : decimal(coupon.credit_cents).times(of).div(base);
    const share = roundToDigits(exact, COUPON_SHARE_DIGITS);
    const amount = share.gt(of) ? of : share;
    recorder.add(
      'coupon_share',
      { coupon_code: coupon.code, credit_cents: coupon.credit_cents, base, share_of: of },
      amount,
      'M:B.5',
    );
    return amount;
  });
  const taxed = { ...fee, preciseCouponsAmountCents: progressive.plus(sum(shares)) };
  const taxes = tail.taxes.map(({ code, rate }) => ({
    id: code,
    code,
    name: code,
    description: null,
    rate: decimal(rate),
  }));
  const result = taxFee(taxed, taxes);
  for (const [index, tax] of taxes.entries())
    recorder.add(
      'tax',
      { tax_code: tax.code, rate: tax.rate.toNumber(), base: taxBase(taxed), level: tail.taxes[index]!.level },
      taxOn(taxBase(taxed), tax),
      'M:A.4',
    );
  recorder.add(
    'fee_total',
    { amount_cents: fee.amountCents, taxes_amount_cents: result.taxesAmountCents },
    `${addCents(fee.amountCents, result.taxesAmountCents)}`,
  );
  return { ...result, preciseCouponsAmountCents: taxed.preciseCouponsAmountCents };
}
