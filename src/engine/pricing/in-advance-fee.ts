import type { EventUnits } from '../metrics/running-record.ts';
import { roundToCents } from '../money/cents.ts';
import { type Decimal, max, ZERO } from '../money/decimal.ts';
import { toMainUnit, toSmallestUnit } from '../money/units.ts';
import type { Properties } from './charge-model.ts';
import type { ChargeModelName } from './charge-models.ts';
import { dueRuns } from './due-runs.ts';
import { type Denomination, feeAmounts, priceExponent } from './fee-amounts.ts';
import { priceEvent } from './price.ts';
import type { Usage } from './priced.ts';
import type { UsageFee } from './usage-fee.ts';

export interface InAdvanceFeeInput extends Denomination {
  charge_model: ChargeModelName;
  properties: Properties;
  /**
   * The ordinary aggregation up to and including the event, which is the last one of its `values`: of the period, or of
   * all time for a recurring metric; full units for a prorated charge. Not rounded by the metric. For an estimate it is
   * the present usage with the billed units and one more event.
   */
  usage: Usage;
  event: Pick<EventUnits, 'billed' | 'units'> & {
    /** `precise_total_amount_cents` in the main unit, of a dynamic charge. */
    preciseTotalAmount?: Decimal;
    /** Whether anything of its group was billed before in the period; undefined for old fees without this field. */
    billedBefore: boolean | undefined;
  };
}

/**
 * Fee of one event billed in advance: the price of the usage with it less the price without it, rounded once. The unit
 * price is the rounded amount divided by the shown units.
 *
 *   graduated 0–5 at 0.02 + 0.01, 6–∞ at 0.01 + 0.01; 4 units before, +2 → 0.13 − 0.09 = 0.04
 *
 * Rules: in-advance.md#units-of-one-event "amount", charge-models.md#in-advance-details.
 */
export function inAdvanceFee(input: InAdvanceFeeInput): UsageFee {
  const { charge_model, properties, usage, event } = input;
  const including: Usage = { ...usage, units: max(usage.units, ZERO) };
  const before: Usage = {
    ...usage,
    units: max(usage.units.minus(event.billed), ZERO),
    eventsCount: countWithout(usage, event.billed),
    preciseTotalAmount: usage.preciseTotalAmount?.minus(event.preciseTotalAmount ?? ZERO),
  };
  const priced = priceEvent(charge_model, properties, { including, before, due: dueRuns({ before }, event) });
  const amount = max(priced.amount, ZERO);
  return {
    ...feeAmounts({ amount, unitAmount: unitAmountOf(amount, event.units, input) }, input),
    units: event.units,
    eventsCount: 1,
    amountDetails: priced.details,
  };
}

/**
 * The events without this one. A unique count counts values, so an event that adds none, such as a removal or a
 * repeated value, pays nothing, not even a fixed amount.
 *
 * Rules: aggregation.md#metered "count", in-advance.md#units-of-one-event.
 */
export function countWithout({ aggregation, eventsCount }: Usage, billed: Decimal): number {
  const added = aggregation === 'unique_count_agg' ? billed.toNumber() : 1;
  return Math.max(eventsCount - added, 0);
}

function unitAmountOf(amount: Decimal, units: Decimal, denomination: Denomination): Decimal {
  if (units.isZero()) return ZERO;
  const exponent = priceExponent(denomination);
  return toMainUnit(roundToCents(toSmallestUnit(amount, exponent)), exponent).div(units);
}
