import type { Decimal } from '../money/decimal.ts';
import type { EventUsage } from './priced.ts';

/** In which of the two prices of an event in advance anything is due, including first flat amounts. */
export type DueRuns = Record<keyof Omit<EventUsage, 'due'>, boolean>;

/**
 * If nothing was billed and nothing is used, nothing is due, not even the first flat amount; the first event with usage
 * pays it once.
 *
 *   −6, +10, +3, graduated at 1 with 50 flat → 0, 54, 3
 *
 * billed        what the event adds to it
 * billedBefore whether anything was billed before in the period; undefined for fees stored before this field existed,
 *   whose first event of any value paid the flat amount
 *
 * Rules: in-advance.md#units-of-one-event "in the run without the event", everywhere.md#first-event-negative.
 */
export function dueRuns(
  { before }: Pick<EventUsage, 'before'>,
  { billed, billedBefore }: { billed: Decimal; billedBefore: boolean | undefined },
): DueRuns {
  if (billedBefore === undefined) return { including: true, before: !before.units.isZero() || before.eventsCount > 0 };
  const isDue = billedBefore || !before.units.isZero();
  return { including: isDue || !billed.isZero(), before: isDue };
}
