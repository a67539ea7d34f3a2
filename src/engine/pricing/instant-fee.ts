import { roundUnits, type UnitRounding } from '../metrics/round-units.ts';
import { type Decimal, ZERO } from '../money/decimal.ts';
import { amountOf } from './amount-text.ts';
import type { Properties } from './charge-model.ts';
import { type Denomination, type FeeAmounts, feeAmounts } from './fee-amounts.ts';
import { percentageTerms } from './percentage-terms.ts';
import { transactionCost } from './transaction-limits.ts';

export interface InstantFeeInput extends Denomination {
  charge_model: 'standard' | 'percentage';
  properties: Properties;
  /** The number in the event's property: 0 if absent, 1 for a metric without property. */
  units: Decimal;
  metric: UnitRounding;
}

export interface InstantFee extends Pick<FeeAmounts, 'amountCents' | 'pricingUnit'> {
  units: Decimal;
  /** In the main unit of the prices, not rounded. */
  preciseAmount: Decimal;
  /** Rounded amount divided by the units, in cents. */
  preciseUnitAmount: Decimal;
}

/**
 * Cheap estimate of one event's fee, as if it were the only one and nothing were free. Negative units cost nothing.
 *
 *   20 units at 2.99 % + 10 → 10.598
 *
 * Rule: estimates.md#instant-fees.
 */
export function instantFee(input: InstantFeeInput): InstantFee {
  const units = roundUnits(input.units, input.metric);
  const amount = units.isNegative() && !units.isZero() ? ZERO : amountFor(units, input);
  const { amountCents, pricingUnit } = feeAmounts({ amount, unitAmount: ZERO }, input);
  return {
    units,
    amountCents,
    pricingUnit,
    preciseAmount: amount,
    preciseUnitAmount: units.isZero() || amountCents === 0 ? ZERO : ZERO.plus(amountCents).div(units),
  };
}

const amountFor = (units: Decimal, { charge_model, properties }: InstantFeeInput): Decimal =>
  charge_model === 'standard'
    ? units.times(amountOf(properties.amount))
    : transactionCost(units, percentageTerms(properties));
