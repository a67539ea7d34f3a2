import type { FixedUnits } from '../metrics/fixed-units.ts';
import { type Cents, roundToCents, ZERO_CENTS } from '../money/cents.ts';
import { type Decimal, decimal, max, ZERO } from '../money/decimal.ts';
import { toMainUnit } from '../money/units.ts';
import type { Properties } from './charge-model.ts';
import { type FeeAmounts, feeAmounts, noAmounts } from './fee-amounts.ts';
import { price } from './price.ts';
import type { AmountDetails, Usage } from './priced.ts';

/** A fixed charge; structural: its row can be passed. */
export interface FixedCharge {
  charge_model: 'standard' | 'graduated' | 'volume';
  properties: Properties;
  prorated: boolean;
}

export interface FixedChargeFee extends FeeAmounts {
  /** Full units. */
  units: Decimal;
  amountDetails: AmountDetails;
}

/**
 * Fee of a fixed charge for a period. A prorated graduated one places its full units in the ranges and prices the
 * weighted ones at that mix.
 *
 *   62 units for 5 of 31 days, then 3.1 for 5, at 0.1 + 10 up to 5 units → 10.5 × 0.1 + 10 = 11.05
 *
 * alreadyPaid the part of the period that the fee of a replaced plan covers, which is subtracted
 *
 * Rule: fixed-charges.md#fee-of-a-period.
 */
export function fixedChargeFee(
  fixedCharge: FixedCharge,
  units: FixedUnits,
  { exponent, alreadyPaid = ZERO_CENTS }: { exponent: number; alreadyPaid?: Cents },
): FixedChargeFee {
  const { fullUnits } = units;
  const priced = price(fixedCharge.charge_model, fixedCharge.properties, usageOfFixed(fixedCharge, units));
  const amount = max(priced.amount.minus(toMainUnit(alreadyPaid, exponent)), ZERO);
  const unitAmount = fullUnits.isZero() ? ZERO : amount.div(fullUnits);
  return { ...feeAmounts({ amount, unitAmount }, { exponent }), units: fullUnits, amountDetails: priced.details };
}

/** Units of a fixed charge as its model prices them. Rule: fixed-charges.md#fee-of-a-period. */
export function usageOfFixed({ charge_model, prorated }: FixedCharge, { units, fullUnits }: FixedUnits): Usage {
  if (!prorated) return { units: fullUnits, eventsCount: 0 };
  const moves = { list: [{ full: fullUnits, weighed: units }], divisor: 1 };
  return { units, fullUnits, eventsCount: 0, ...(charge_model === 'graduated' ? { moves } : {}) };
}

/**
 * The part of a new period that a former fee covers, after an upgrade to a plan with a prorated fixed charge in advance
 * on the same add-on.
 *
 *   2000 for 20 days, 14 new days → 1400
 *
 * paidDays  from the former fee's billing instant to its period's end, rounded up
 */
export const alreadyPaidCents = (
  paidCents: Cents,
  { newDays, paidDays }: { newDays: number; paidDays: number },
): Cents => roundToCents(decimal(paidCents).times(newDays).div(paidDays));

/**
 * Fee of more units inside a period that was paid in advance. Fewer or equal units make a fee of zero, which documents
 * the change.
 *
 *   10 → 15 units at 10 → 5 units, 5000;  15 → 5 → nothing
 *
 * billedUnits  of all fees of the same boundaries
 * share        of a prorated fixed charge: local days from today to the period's end, both included, of the days in it
 *
 * Rule: fixed-charges.md#change-inside-a-period.
 */
export function unitsChangeFee(
  fixedCharge: FixedCharge,
  { units, billedUnits }: { units: Decimal; billedUnits: Decimal },
  { exponent, share }: { exponent: number; share: { days: number; periodDays: number } },
): FixedChargeFee {
  const added = units.minus(billedUnits);
  if (!added.gt(ZERO)) return { ...noAmounts({ exponent }), units: ZERO, amountDetails: {} };

  const weighed = fixedCharge.prorated ? added.times(share.days).div(share.periodDays) : added;
  return fixedChargeFee(fixedCharge, { units: weighed, fullUnits: added }, { exponent });
}
