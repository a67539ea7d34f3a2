import { addCents, type Cents } from '../money/cents.ts';
import { type Decimal, decimal, sum } from '../money/decimal.ts';
import { COUPON_SHARE_DIGITS, roundToDigits } from '../money/precision.ts';
import { collectedFeeTaxes } from '../taxes/provider/collect-taxes.ts';
import { type FeeTaxes, type TaxedAmount, taxBase, taxFee, taxOn } from '../taxes/tax-fee.ts';
import type { Recorder } from './explanation-step.ts';
import type { StoredTail, StoredTaxProvider } from './stored-inputs.ts';

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
  const result =
    tail.tax_provider === undefined
      ? ownTaxes(recorder, tail.taxes, taxed)
      : providerTaxes(recorder, tail.tax_provider);
  recorder.add(
    'fee_total',
    { amount_cents: fee.amountCents, taxes_amount_cents: result.taxesAmountCents },
    `${addCents(fee.amountCents, result.taxesAmountCents)}`,
  );
  return { ...result, preciseCouponsAmountCents: taxed.preciseCouponsAmountCents };
}

/** Rule: taxes.md#computation. */
function ownTaxes(recorder: Recorder, stored: StoredTail['taxes'], taxed: TaxedAmount): FeeTaxes {
  const taxes = stored.map(({ code, rate }) => ({
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
      { tax_code: tax.code, rate: tax.rate.toNumber(), base: taxBase(taxed), level: stored[index]!.level },
      taxOn(taxBase(taxed), tax),
      'M:A.4',
    );
  return result;
}

/** Rule: tax-engines.md#what-the-answer-becomes. */
function providerTaxes(recorder: Recorder, { net_cents, collected_cents, taxes }: StoredTaxProvider): FeeTaxes {
  const named = taxes.map(({ code, name, description, rate, amount_cents }) => ({
    code,
    name,
    description,
    rate: decimal(rate),
    amountCents: decimal(amount_cents),
  }));
  const exact = named.map(({ code, rate, amountCents }) => `${code} ${rate.toFixed()} % = ${amountCents.toFixed()}`);
  recorder.add(
    'tax_provider',
    { base: net_cents, taxes: exact.join(', ') },
    `${collected_cents}`,
    'tax-engines.md#what-the-answer-becomes',
  );
  return collectedFeeTaxes({ netCents: net_cents, collectedCents: collected_cents, taxes: named });
}
