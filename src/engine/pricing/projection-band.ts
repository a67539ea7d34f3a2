import type { Cents } from '../money/cents.ts';
import { type Decimal, decimal } from '../money/decimal.ts';
import type { Properties } from './charge-model.ts';
import type { ChargeModelName } from './charge-models.ts';
import { type Denomination, feeAmounts } from './fee-amounts.ts';
import { price } from './price.ts';
import { isPricedAgain } from './projection.ts';
import type { UsageFee } from './usage-fee.ts';

/** How many complete days say how much usage differs from day to day, and how few say nothing. */
const DAYS_LOOKED_AT = 7;
const DAYS_AT_LEAST = 3;

interface Remaining {
  /** Units of each complete day of the period, in order. */
  daily: readonly Decimal[];
  /** Days of the period behind today. */
  daysLeft: number;
}

/**
 * What a usage fee comes to if each day that is left is like the least, and like the greatest, of the last 7 complete
 * days. Undefined before 3 complete days; where the model prices no projected units, the projection itself is both.
 *
 *   12 500 units, 12 days left, days of 500 to 800 units → 18 500 and 22 100 units, priced
 *
 * Rule: console-reads.md#usage-series "projection".
 */
export function projectionBand(
  fee: UsageFee,
  charge: Denomination & { charge_model: ChargeModelName; properties: Properties; recurring: boolean },
  { daily, daysLeft }: Remaining,
  projectedCents: Cents,
): { lowCents: Cents; highCents: Cents } | undefined {
  if (daily.length < DAYS_AT_LEAST) return undefined;
  if (charge.recurring || !isPricedAgain(charge.charge_model))
    return { lowCents: projectedCents, highCents: projectedCents };
  const sorted = daily.slice(-DAYS_LOOKED_AT).toSorted((a, b) => a.comparedTo(b));
  const priced = (each: Decimal): Cents => {
    const units = fee.units.plus(each.times(daysLeft));
    const amount =
      units.isZero() || units.isNegative()
        ? decimal(0)
        : price(charge.charge_model, charge.properties, { units, eventsCount: fee.eventsCount }).amount;
    return feeAmounts({ amount, unitAmount: decimal(0) }, charge).amountCents;
  };
  const [one, other] = [priced(sorted[0]!), priced(sorted.at(-1)!)];
  return one <= other ? { lowCents: one, highCents: other } : { lowCents: other, highCents: one };
}
