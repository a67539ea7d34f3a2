import { instantText } from '../../../engine/calendar/instant-text.ts';
import type { Period } from '../../../engine/calendar/period.ts';
import type { GroupedBy } from '../../../engine/metrics/group-values.ts';
import { exponentOf } from '../../../engine/money/currency.ts';
import { ZERO } from '../../../engine/money/decimal.ts';
import { toMainUnit } from '../../../engine/money/units.ts';
import { feeAmounts } from '../../../engine/pricing/fee-amounts.ts';
import { fixedChargeFee } from '../../../engine/pricing/fixed-charge-fee.ts';
import type { ChargeFilterId, ChargeId, SubscriptionId } from '../../../platform/ids.ts';
import type { AdjustedFeeRow, BilledThing } from '../../invoices/adjusted-fees/queries.ts';
import type { CountedShare } from '../../usage/usage-counts/request.ts';
import type { LineFee } from './fees.ts';

/** The usage of a charge in a window. */
interface CountedCharge {
  subscriptionId: SubscriptionId;
  chargeId: ChargeId;
  window: Period;
}

/** How adjustments take part in the computation of an invoice. */
export interface Adjuster {
  /** Counted usage, with adjusted units in its place. */
  shares(charge: CountedCharge, counted: readonly CountedShare[]): CountedShare[];
  /** A fee with its adjustment, when it has one. */
  fee(fee: LineFee): LineFee;
  /** Whether a fee is adjusted: it is then made even if its amount is zero. */
  targets(fee: LineFee): boolean;
}

/** Rule: usage-fees.md#adjusted-fees. */
export function adjusterOf(adjustments: readonly AdjustedFeeRow[]): Adjuster {
  const byKey = new Map(adjustments.map((adjustment) => [keyOf(adjustment), adjustment]));
  const ofFee = (fee: LineFee) => (fee.true_up_parent_fee_id === null ? byKey.get(keyOf(thingOf(fee))) : undefined);
  return {
    shares: (charge, counted) => adjustShares(adjustments, charge, counted),
    fee: (fee) => {
      const adjustment = ofFee(fee);
      return adjustment === undefined ? fee : adjustFee(fee, adjustment);
    },
    targets: (fee) => ofFee(fee) !== undefined,
  };
}

export const NO_ADJUSTMENTS: Adjuster = adjusterOf([]);

/** Whether an adjustment sets the price too, not only the units. */
export const isPricedByHand = ({ adjustment }: LineFee): boolean =>
  adjustment !== undefined && adjustment.units !== null && adjustment.unit_precise_amount !== null;

/** Key of what a fee bills: equal for the same item. */
export const keyOf = (thing: BilledThing): string =>
  JSON.stringify([
    thing.subscription_id,
    thing.fee_type,
    thing.charge_id,
    thing.charge_filter_id,
    thing.fixed_charge_id,
    Object.entries(thing.grouped_by).sort(([a], [b]) => (a < b ? -1 : 1)),
    instantText(thing.from_datetime),
    instantText(thing.to_datetime),
  ]);

const thingOf = ({
  line,
  fee_type,
  charge,
  charge_filter_id,
  fixedCharge,
  groupedBy,
  window,
}: LineFee): BilledThing => ({
  subscription_id: line.subscription.id,
  fee_type,
  charge_id: charge?.id ?? null,
  charge_filter_id,
  fixed_charge_id: fixedCharge?.id ?? null,
  grouped_by: groupedBy,
  from_datetime: window.from,
  to_datetime: window.to,
});

/** Units alone are priced as if they had been counted, without events; an item without usage is added. */
function adjustShares(
  adjustments: readonly AdjustedFeeRow[],
  { subscriptionId, chargeId, window }: CountedCharge,
  counted: readonly CountedShare[],
): CountedShare[] {
  const own = adjustments.filter(
    (adjustment) =>
      adjustment.charge_id === chargeId &&
      adjustment.subscription_id === subscriptionId &&
      adjustment.from_datetime.equals(window.from) &&
      adjustment.to_datetime.equals(window.to),
  );
  if (own.length === 0) return [...counted];
  const byShare = new Map(own.map((each) => [shareKey(each.charge_filter_id, each.grouped_by), each]));
  const found = counted.map((share) => {
    const key = shareKey(share.filterId, share.groupedBy);
    const adjustment = byShare.get(key);
    byShare.delete(key);
    return adjustment === undefined ? share : adjustShare(share, adjustment);
  });
  return [...found, ...[...byShare.values()].map((each) => adjustShare(nothingCounted(each), each))];
}

const shareKey = (filterId: ChargeFilterId | null, groupedBy: GroupedBy): string =>
  JSON.stringify([filterId, Object.entries(groupedBy).sort(([a], [b]) => (a < b ? -1 : 1))]);

const nothingCounted = ({ charge_filter_id, grouped_by, units }: AdjustedFeeRow): CountedShare => ({
  filterId: charge_filter_id,
  groupedBy: grouped_by,
  units: units ?? ZERO,
  eventsCount: 0,
});

const adjustShare = (share: CountedShare, adjustment: AdjustedFeeRow): CountedShare =>
  adjustment.units === null || adjustment.unit_precise_amount !== null ? share : nothingCounted(adjustment);

function adjustFee(fee: LineFee, adjustment: AdjustedFeeRow): LineFee {
  const named: LineFee = {
    ...fee,
    id: adjustment.fee_id,
    adjustment,
    item: { ...fee.item, displayName: adjustment.invoice_display_name ?? fee.item.displayName },
  };
  const { units, unit_precise_amount: unitAmount } = adjustment;
  if (units === null) return named;
  const exponent = exponentOf(fee.line.subscription.amount_currency);
  const isUsage = fee.charge !== undefined;
  if (unitAmount !== null) {
    return {
      ...named,
      ...feeAmounts({ amount: units.times(unitAmount), unitAmount }, { exponent }),
      units,
      totalAggregatedUnits: units,
      eventsCount: isUsage ? 0 : fee.eventsCount,
      amountDetails: {},
      pricingUnitDetails: null,
    };
  }
  if (isUsage) return named;
  if (fee.fixedCharge !== undefined) {
    const priced = fixedChargeFee(fee.fixedCharge, { units, fullUnits: units }, { exponent });
    return { ...named, ...priced, totalAggregatedUnits: units };
  }
  const each = toMainUnit(fee.preciseAmountCents, exponent);
  return {
    ...named,
    ...feeAmounts({ amount: each.times(units), unitAmount: each }, { exponent }),
    units,
    totalAggregatedUnits: units,
  };
}
