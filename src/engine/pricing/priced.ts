import type { Decimal } from '../money/decimal.ts';

/** What a charge model prices: the usage of one fee. */
export interface Usage {
  /** After metric rounding; weighted by days for a prorated charge. */
  units: Decimal;
  /** Units ignoring time, of a prorated charge. */
  fullUnits?: Decimal;
  eventsCount: number;
}

/** Figures of `amount_details`, as JSON shows them. */
export type AmountDetails = Readonly<Record<string, unknown>>;

/** A price in the currency's main unit, not rounded; rounding happens once, in usage-fee.ts. */
export interface Priced {
  amount: Decimal;
  unitAmount: Decimal;
  details: AmountDetails;
}
