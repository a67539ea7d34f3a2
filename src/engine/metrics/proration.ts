import type { Instant } from '../calendar/instants.ts';
import { lastInstant, type Period } from '../calendar/period.ts';
import type { Decimal } from '../money/decimal.ts';
import { dayNumbers } from './day-numbers.ts';

/** The days that prorated units are weighted by. */
export interface Proration {
  /** The charges period, as far as the subscription covers it. */
  period: Period;
  /** Days of the full period. */
  periodDays: number;
  zone: string;
  /** Whether the subscription ended by an upgrade: its last day belongs to the new one. */
  isUpgraded: boolean;
}

/** Units weighted by days. */
export interface ProratedUnits {
  /** Weighted, rounded up at 5 digits. */
  units: Decimal;
  /** Ignoring time; what is shown. */
  fullUnits: Decimal;
  eventsCount: number;
}

/** One event's part of prorated units. */
export interface Move {
  /** Ignoring time. */
  full: Decimal;
  /** Weighted, but not yet divided. */
  weighed: Decimal;
}

/** Parts of prorated units in the order of time: what a prorated graduated charge walks through. */
export interface Moves {
  list: readonly Move[];
  /** Divides every `weighed`; kept separate, because thirds of a month are not exact. */
  divisor: number;
}

/**
 * Returns a function that counts the billed days from the local day of one instant to that of another, both included
 * and within the period; without the second instant, to the period's last day. The hour of day does not matter.
 *
 *   May; the 26th → 6, the 26th with an upgrade on the 31st → 5, the 1st to the 16th → 16
 *
 * Rules: money-and-days.md#days, aggregation.md#prorated-sum, aggregation.md#prorated-unique-count (3),
 * usage-fees.md#dates "an instant inside a day counts that day".
 */
export function billedDays({ period, zone, isUpgraded }: Proration): (from: Instant, until?: Instant) => number {
  const dayOf = dayNumbers(zone);
  const first = dayOf(period.from);
  const last = dayOf(lastInstant(period)) - (isUpgraded ? 1 : 0);
  return (from, until) => {
    const start = Math.max(dayOf(from), first);
    const end = until === undefined ? last : Math.min(dayOf(until), last);
    return Math.max(end - start + 1, 0);
  };
}
