import type { AggregationType } from '../metrics/aggregation-types.ts';
import type { Moves } from '../metrics/proration.ts';
import type { Decimal } from '../money/decimal.ts';
import type { DueRuns } from './due-runs.ts';

/** The input of a charge model: the usage of one fee. Only some models need the optional parts. */
export interface Usage {
  /** After metric rounding; weighted by days for a prorated charge. */
  units: Decimal;
  /** Units ignoring time, of a prorated charge. */
  fullUnits?: Decimal;
  eventsCount: number;
  /** Parts of prorated units, for a prorated graduated charge. */
  moves?: Moves;
  /** The kind of units, for a percentage charge. */
  aggregation?: AggregationType;
  /** Values of the events in processing order, as far as `eventsNeeded` requires them. */
  values?: readonly Decimal[];
  /** Sum of the events' `precise_total_amount_cents`, absent ones 0, in the main unit, for a dynamic charge. */
  preciseTotalAmount?: Decimal;
}

/**
 * Single values that a price depends on, in processing order: those of the first events only, or all up to the first at
 * which their sum passes a limit.
 */
export type EventsNeeded = 'none' | 'all' | { first: number } | { untilSumAbove: Decimal };

/** Figures of `amount_details`, as JSON shows them. */
export type AmountDetails = Readonly<Record<string, unknown>>;

/** A price in the currency's main unit, not rounded; rounding happens once, in fee-amounts.ts. */
export interface Priced {
  amount: Decimal;
  unitAmount: Decimal;
  details: AmountDetails;
}

/** Usage up to and including an event, and as it was before it. */
export interface EventUsage {
  including: Usage;
  before: Usage;
  due: DueRuns;
}

/** Price of one event. */
export type EventPrice = Omit<Priced, 'unitAmount'>;
