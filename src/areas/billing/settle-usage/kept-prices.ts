import type { GroupedBy } from '../../../engine/metrics/group-values.ts';
import type { Cents } from '../../../engine/money/cents.ts';
import { type Decimal, decimal } from '../../../engine/money/decimal.ts';
import type { ChargeFilterId } from '../../../platform/ids.ts';
import type { LineFee } from '../build-invoice/fees.ts';
import type { BilledItemKind } from './billed-items.ts';

/** What a filter and group of a charge cost, or its true-up. */
export interface PricedItem {
  kind: BilledItemKind;
  charge_filter_id: ChargeFilterId | null;
  grouped_by: GroupedBy;
  display_name: string;
  amount_cents: Cents;
  units: Decimal;
  /** The running total at the end of the window. */
  total_units: Decimal;
}

/** What a charge on an invoice cost. */
export interface KeptPrices {
  items: PricedItem[];
  /** Late events that were not in its usage. */
  late_events_left_out: number;
}

/** A fee that would be made now. */
export const pricedItem = (fee: LineFee): PricedItem => ({
  kind: fee.true_up_parent_fee_id === null ? 'usage' : 'true_up',
  charge_filter_id: fee.charge_filter_id,
  grouped_by: fee.groupedBy,
  display_name: fee.item.displayName,
  amount_cents: fee.amountCents,
  units: fee.units,
  total_units: fee.totalAggregatedUnits,
});

/** Prices as they are stored: JSON has its decimals as texts. */
export interface StoredPrices {
  items: (Omit<PricedItem, 'units' | 'total_units'> & { units: string; total_units: string })[];
  late_events_left_out: number;
}

export const pricesOf = (stored: StoredPrices | null): KeptPrices | null =>
  stored && {
    ...stored,
    items: stored.items.map((item) => ({
      ...item,
      units: decimal(item.units),
      total_units: decimal(item.total_units),
    })),
  };
