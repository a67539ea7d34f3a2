import { type Instant, isBefore } from '../calendar/instants.ts';
import type { Period } from '../calendar/period.ts';
import { billedDays } from '../metrics/proration.ts';
import type { Cents } from '../money/cents.ts';
import { type Decimal, max, min, ZERO } from '../money/decimal.ts';
import { roundToDigits } from '../money/precision.ts';
import { toMainUnit } from '../money/units.ts';
import type { Properties } from './charge-model.ts';
import type { ChargeModelName } from './charge-models.ts';
import { type Denomination, feeAmounts, priceExponent } from './fee-amounts.ts';
import { price } from './price.ts';
import type { UsageFee } from './usage-fee.ts';

/** The progress of a period in local days. */
export interface Elapsed {
  /** Today included; 0 before the period, all days after it. */
  days: number;
  of: number;
}

export interface Projection {
  units: Decimal;
  amountCents: Cents;
  /** In cents of the charge's pricing unit. */
  pricingUnitAmountCents: Cents | null;
}

const UNIT_DIGITS = 2;

/** Models that price projected units; for other models the amount itself is projected. */
const PRICED_AGAIN: readonly ChargeModelName[] = ['standard', 'graduated', 'package', 'volume'];

export const isPricedAgain = (model: ChargeModelName): boolean => PRICED_AGAIN.includes(model);

/** Days of a period that have begun by now. Rule: usage-reads.md#projected-usage "ratio". */
export function elapsedDays(period: Period, now: Instant, zone: string): Elapsed {
  const days = billedDays({ period, zone, periodDays: 0, isUpgraded: false });
  return { days: isBefore(now, period.from) ? 0 : days(period.from, now), of: days(period.from) };
}

/** Units projected to the end of the period at the present rate. Rule: usage-reads.md#projected-usage. */
export const projectUnits = (units: Decimal, { days, of }: Elapsed): Decimal =>
  days === 0 ? units : roundToDigits(units.times(of).div(days), UNIT_DIGITS);

/**
 * A usage fee projected to the end of the period at the present rate. Recurring usage is not extrapolated.
 *
 *   10 units at 1.00 on day 10 of 31 → 31.00 units, 3100 cents
 *
 * Rule: usage-reads.md#projected-usage.
 */
export function projectFee(
  fee: UsageFee,
  charge: Denomination & { charge_model: ChargeModelName; properties: Properties; recurring: boolean },
  elapsed: Elapsed,
): Projection {
  if (charge.recurring || elapsed.days === 0)
    return {
      units: fee.units,
      amountCents: fee.amountCents,
      pricingUnitAmountCents: fee.pricingUnit?.amountCents ?? null,
    };

  const units = projectUnits(fee.units, elapsed);
  const amount = isPricedAgain(charge.charge_model)
    ? priceOf(units, fee, charge)
    : preciseAmount(fee, charge).times(elapsed.of).div(elapsed.days);
  const { amountCents, pricingUnit } = feeAmounts({ amount, unitAmount: ZERO }, charge);
  return { units, amountCents, pricingUnitAmountCents: pricingUnit?.amountCents ?? null };
}

/**
 * The lowest and highest that a period's usage may come to, if each of its days that are left brings as much as the
 * least or the most of the last complete days. Where the price depends on single events, both are the projection.
 *
 *   12 500 units on day 18 of 30, days of 500 to 800 → 18 500 and 22 100 units
 *
 * days  units of the last complete days, at least one
 * Rule: portal.md#projection.
 */
export function projectedBand(
  fee: UsageFee,
  charge: Denomination & { charge_model: ChargeModelName; properties: Properties; recurring: boolean },
  { elapsed, days }: { elapsed: Elapsed; days: readonly Decimal[] },
): { low: Projection; high: Projection } {
  const middle = projectFee(fee, charge, elapsed);
  if (charge.recurring || days.length === 0 || !PRICED_AGAIN.includes(charge.charge_model))
    return { low: middle, high: middle };
  const left = elapsed.of - elapsed.days;
  const at = (perDay: Decimal): Projection => {
    const units = fee.units.plus(perDay.times(left));
    const { amountCents, pricingUnit } = feeAmounts({ amount: priceOf(units, fee, charge), unitAmount: ZERO }, charge);
    return { units, amountCents, pricingUnitAmountCents: pricingUnit?.amountCents ?? null };
  };
  return { low: at(days.reduce(min)), high: at(days.reduce(max)) };
}

const priceOf = (
  units: Decimal,
  { eventsCount }: UsageFee,
  { charge_model, properties }: { charge_model: ChargeModelName; properties: Properties },
): Decimal => (units.isZero() ? ZERO : price(charge_model, properties, { units, eventsCount }).amount);

const preciseAmount = ({ preciseAmountCents, pricingUnit }: UsageFee, denomination: Denomination): Decimal =>
  toMainUnit((pricingUnit ?? { preciseAmountCents }).preciseAmountCents, priceExponent(denomination));
