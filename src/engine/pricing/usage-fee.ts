import { roundUnits, type UnitRounding } from '../metrics/round-units.ts';
import { type Decimal, max, ZERO } from '../money/decimal.ts';
import type { Properties } from './charge-model.ts';
import type { ChargeModelName } from './charge-models.ts';
import { type Denomination, type FeeAmounts, feeAmounts, noAmounts } from './fee-amounts.ts';
import { price } from './price.ts';
import type { AmountDetails, Usage } from './priced.ts';

export interface UsageFeeInput extends Denomination {
  charge_model: ChargeModelName;
  properties: Properties;
  /** As aggregated, before the metric's rounding. */
  usage: Usage;
  metric: UnitRounding;
}

export interface UsageFee extends FeeAmounts {
  /** Shown units: full ones for a prorated charge. */
  units: Decimal;
  eventsCount: number;
  amountDetails: AmountDetails;
}

/**
 * A usage fee in arrears: the metric rounds the units, the charge model prices them, and the amount is rounded once.
 * Negative units are priced as zero without the model; a negative amount becomes 0. Full units of a prorated charge are
 * not shown below 0.
 *
 *   12.5 units at 0.01 USD → 0.125 USD → 13 cents, precise 12.5
 *
 * Rules: money-and-days.md#numbers, billable-metrics.md#rounding, charge-models.md, pricing-units.md,
 * usage-fees.md#units-shown.
 */
export function usageFee(input: UsageFeeInput): UsageFee {
  const { charge_model, properties, usage, metric } = input;
  const rounded: Usage = {
    ...usage,
    units: roundUnits(usage.units, metric),
    fullUnits: usage.fullUnits && max(roundUnits(usage.fullUnits, metric), ZERO),
  };
  if (isBelowZero(rounded.units)) return noFee(input);

  const priced = price(charge_model, properties, rounded);
  if (isBelowZero(priced.amount)) return noFee(input);
  return {
    ...feeAmounts(priced, input),
    units: rounded.fullUnits ?? rounded.units,
    eventsCount: usage.eventsCount,
    amountDetails: priced.details,
  };
}

/** The units of a usage fee, without its price: rounded by the metric, full ones of a prorated charge, not below 0. */
export function shownUnits({ usage, metric }: Pick<UsageFeeInput, 'usage' | 'metric'>): Decimal {
  return max(roundUnits(usage.fullUnits ?? usage.units, metric), ZERO);
}

const noFee = (input: UsageFeeInput): UsageFee => ({
  ...noAmounts(input),
  units: ZERO,
  eventsCount: input.usage.eventsCount,
  amountDetails: {},
});

const isBelowZero = (value: Decimal): boolean => value.isNegative() && !value.isZero();

/**
 * Whether a computed usage fee is stored: it has units, an amount or events.
 * Rule: usage-fees.md#when-a-fee-is-stored.
 */
export const isStored = ({ units, amountCents, eventsCount }: UsageFee): boolean =>
  !units.isZero() || amountCents !== 0 || eventsCount !== 0;
