import type { Texts } from '../../../engine/metrics/choose-filter.ts';
import type { BilledTotals } from './billed-totals.ts';
import type { ReadPlan } from './full-hours-and-days.ts';
import type { MembersWindow, SummedWindow } from './plan-readings.ts';
import type { ChargeToCount, UsageWindow } from './request.ts';
import type { Portion, ReadEvent } from './units-of-shares.ts';

/** A charge in the course of counting. */
export interface Counting {
  charge: ChargeToCount;
  /** Sorted names of all properties that distinguish its events. */
  names: string[];
  rows: Row[];
  totals: BilledTotals;
  /** Whether steps need more single events than may be read: rows are missing. */
  isCut: boolean;
}

/** One window to sum up. */
export interface Summing extends SummedWindow {
  counting: Counting;
  plan: ReadPlan;
}

/** One window of a unique count. */
export interface Listing extends MembersWindow {
  counting: Counting;
  plan: ReadPlan;
}

/** Windows whose events are read one by one. */
export interface Scanning {
  counting: Counting;
  window: UsageWindow & { first?: number };
  plan: Pick<ReadPlan, 'raw'>;
}

/** Aggregates of events with the same property texts, from one row of a statement. */
export interface Row {
  texts: Texts;
  /** Position of the first end that is behind it; 0 where nothing is counted in steps. */
  step: number;
  portion?: Portion;
  isBefore?: boolean;
  event?: ReadEvent;
  /** Values of a unique count that are in use and listed nowhere else. */
  settled?: number;
}
