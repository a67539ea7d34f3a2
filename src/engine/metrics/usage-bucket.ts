import type { Decimal } from '../money/decimal.ts';

/** What is kept of the events of one hour, or of any other set of events. Every aggregation reads its own columns. */
export interface UsageBucket {
  /** All events. */
  events_count: number;
  /** Events whose property is a plain number. */
  valid_count: number;
  /** Sum over these. */
  sum: Decimal | string;
}

/** Units before rounding, and the number of events behind them. */
export interface Aggregate {
  units: Decimal;
  eventsCount: number;
}

/** Turns the buckets of one filter and group into units; buckets may come in any order. */
export type Combine = (buckets: readonly UsageBucket[]) => Aggregate;
