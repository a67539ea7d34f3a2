import type { AggregationType } from '../metrics/aggregation-types.ts';
import type { Moves } from '../metrics/proration.ts';
import type { Decimal } from '../money/decimal.ts';
import type { DueRuns } from './due-runs.ts';

/** What a charge model prices: the usage of one fee. The optional parts are asked for by single models only. */
export interface Usage {
  /** After metric rounding; weighted by days for a prorated charge. */
  units: Decimal;
  /** Units ignoring time, of a prorated charge. */
  fullUnits?: Decimal;
  eventsCount: number;
  /** Parts of prorated units, for a prorated graduated charge. */
  moves?: Moves;
  /** What the units are, for a percentage charge. */
  aggregation?: AggregationType;
  /** Values of the events in processing order, as far as `eventsNeeded` asks for them. */
  values?: readonly Decimal[];
  /** Sum of the events' `precise_total_amount_cents`, absent ones 0, in the main unit, for a dynamic charge. */
  preciseTotalAmount?: Decimal;
}

/**
 * Which values of single events a price depends on, in processing order: of the first events only, or of all up to the
 * first at which their sum passes a limit.
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
