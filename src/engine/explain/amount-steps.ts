import type { Cents } from '../money/cents.ts';
import type { Denomination, FeeAmounts } from '../pricing/fee-amounts.ts';
import type { Recorder } from './explanation-step.ts';

/**
 * Records how an exact amount becomes the fee's: the conversion from a pricing unit, the rounding.
 * Rules: money-and-days.md#numbers, pricing-units.md.
 */
export function recordAmounts(
  recorder: Recorder,
  { amountCents, pricingUnit }: Pick<FeeAmounts, 'amountCents' | 'pricingUnit'>,
  { exponent, conversionRate }: Denomination,
): Cents {
  if (pricingUnit !== null) {
    const inputs = { pricing_unit_cents: pricingUnit.amountCents, rate: conversionRate };
    recorder.add('convert_pricing_unit', inputs, `${amountCents}`, 'D.8');
  }
  recorder.add('round_amount', { exponent, mode: 'half_away_from_zero' }, `${amountCents}`, '0.2');
  return amountCents;
}
