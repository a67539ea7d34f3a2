import { roundUnits, type UnitRounding } from '../metrics/round-units.ts';
import { type Cents, roundToCents, truncateToCents, ZERO_CENTS } from '../money/cents.ts';
import { type Decimal, ZERO } from '../money/decimal.ts';
import { PRECISE_AMOUNT_DIGITS, roundToDigits } from '../money/precision.ts';
import { toSmallestUnit } from '../money/units.ts';
import type { Properties } from './charge-model.ts';
import type { ChargeModelName } from './charge-models.ts';
import { price } from './price.ts';
import type { AmountDetails, Priced, Usage } from './priced.ts';

export interface UsageFeeInput {
  charge_model: ChargeModelName;
  properties: Properties;
  /** As aggregated, before the metric's rounding. */
  usage: Usage;
  metric: UnitRounding;
  /** Decimals of the currency. */
  exponent: number;
}

export interface UsageFee {
  /** Units shown: full ones of a prorated charge. */
  units: Decimal;
  eventsCount: number;
  amountCents: Cents;
  /** Unrounded, with the 15 decimals that are stored. */
  preciseAmountCents: Decimal;
  /** Cut to whole cents, not rounded. */
  unitAmountCents: Cents;
  /** In the main unit, with 15 decimals. */
  preciseUnitAmount: Decimal;
  amountDetails: AmountDetails;
}

/**
 * A usage fee in arrears: the metric rounds the units, the charge model prices them, and the amount is rounded once.
 * Negative units are priced as none, without asking the model; a negative amount becomes 0.
 *
 *   12.5 units at 0.01 USD → 0.125 USD → 13 cents, precise 12.5
 *
 * Rules: usage-and-charges 0.2, B.5, D.5, F.2.
 */
export function usageFee({ charge_model, properties, usage, metric, exponent }: UsageFeeInput): UsageFee {
  const rounded: Usage = {
    units: roundUnits(usage.units, metric),
    fullUnits: usage.fullUnits && roundUnits(usage.fullUnits, metric),
    eventsCount: usage.eventsCount,
  };
  if (isBelowZero(rounded.units)) return noAmount(usage.eventsCount);

  const priced = price(charge_model, properties, rounded);
  if (isBelowZero(priced.amount)) return noAmount(usage.eventsCount);
  return { ...amountsOf(priced, exponent), units: rounded.fullUnits ?? rounded.units, eventsCount: usage.eventsCount };
}

/** A price as a fee stores it. Rule: usage-and-charges 0.2. */
function amountsOf({ amount, unitAmount, details }: Priced, exponent: number): Omit<UsageFee, 'units' | 'eventsCount'> {
  const exact = toSmallestUnit(amount, exponent);
  return {
    amountCents: roundToCents(exact),
    preciseAmountCents: roundToDigits(exact, PRECISE_AMOUNT_DIGITS),
    unitAmountCents: truncateToCents(toSmallestUnit(unitAmount, exponent)),
    preciseUnitAmount: roundToDigits(unitAmount, PRECISE_AMOUNT_DIGITS),
    amountDetails: details,
  };
}

const noAmount = (eventsCount: number): UsageFee => ({
  units: ZERO,
  eventsCount,
  amountCents: ZERO_CENTS,
  preciseAmountCents: ZERO,
  unitAmountCents: ZERO_CENTS,
  preciseUnitAmount: ZERO,
  amountDetails: {},
});

const isBelowZero = (value: Decimal): boolean => value.isNegative() && !value.isZero();

/** Whether a computed usage fee is worth a row: it has units, an amount or events. Rule: usage-and-charges F.4. */
export const isStored = ({ units, amountCents, eventsCount }: UsageFee): boolean =>
  !units.isZero() || amountCents !== 0 || eventsCount !== 0;
