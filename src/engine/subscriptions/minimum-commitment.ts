import { periodDays } from '../calendar/day-difference.ts';
import { dayCount, periodBefore, periodHolding } from '../calendar/grid.ts';
import { later } from '../calendar/instants.ts';
import { dayStart, daysPeriod, localDate } from '../calendar/local-day.ts';
import type { Period } from '../calendar/period.ts';
import { gridsOf, isLong, startOf } from '../calendar/terms.ts';
import { isTerminated } from '../calendar/windows.ts';
import { type Cents, cents, roundToCents } from '../money/cents.ts';
import { decimal } from '../money/decimal.ts';
import { isLongPlanTurn, type SubscriptionFeeInput } from './subscription-fee.ts';

export interface CommitmentInput extends SubscriptionFeeInput {
  /** Whether the line closes the subscription on the first day of a period that has not been billed. */
  closesOnBoundary: boolean;
}

/** The plan period that a line reconciles with the minimum commitment. */
export interface Reconciled {
  /** The whole period; fees count if their window lies in it. */
  period: Period;
  /** The part of it that the subscription had the plan for. */
  billed: Period;
  billedDays: number;
  periodDays: number;
  /** Whether the commitment is owed only if a subscription fee was billed for the period. */
  needsSubscriptionFee: boolean;
}

/**
 * The period that a line reconciles, or undefined if it reconciles none: in arrears the period it bills, in advance the
 * period before; the period in progress when a plan in advance ends.
 *
 * Rule: minimums.md#minimum-commitment.
 */
export function reconciledPeriod(input: CommitmentInput): Reconciled | undefined {
  const { plan, subscription, at, zone, window } = input;
  if (subscription.status !== 'active' && subscription.status !== 'terminated') return undefined;
  if (isLong(plan.interval) && !isLongPlanTurn(input)) return undefined;

  const grid = gridsOf(plan, subscription, zone).plan;
  const own = periodHolding(grid, localDate(window.from, zone));
  const isClosing = isTerminated(subscription, at) && input.succession !== 'downgrade' && !input.closesOnBoundary;
  const looksBack = plan.pay_in_advance && !isClosing;
  const range = looksBack ? periodBefore(grid, own) : own;
  const period = daysPeriod(range.first, range.last, zone);
  const start = later(period.from, dayStart(localDate(startOf(subscription), zone), zone));
  if (start.epochNanoseconds >= period.to.epochNanoseconds) return undefined;

  const billed = { from: start, to: looksBack ? period.to : window.to };
  return {
    period,
    billed,
    billedDays: periodDays(billed, zone),
    periodDays: dayCount(range),
    needsSubscriptionFee: looksBack,
  };
}

/** Whether a fee belongs to a period: the middle of its window is in it, even after a change of time zone. */
export function isOfPeriod({ from, to }: Period, period: Period): boolean {
  const middle = (from.epochNanoseconds + to.epochNanoseconds) / 2n;
  return middle >= period.from.epochNanoseconds && middle < period.to.epochNanoseconds;
}

/**
 * The gap to the minimum commitment of a plan, prorated to the billed days; 0 if there is none.
 *
 *   1000000 for 5 of 7 days → 714286, used 71429 → 642857
 *
 * Rule: minimums.md#minimum-commitment.
 */
export function commitmentTrueUp(
  commitmentCents: number,
  { billedDays, periodDays: days }: Pick<Reconciled, 'billedDays' | 'periodDays'>,
  usedCents: Cents,
): Cents {
  const due = roundToCents(decimal(commitmentCents).times(billedDays).div(days));
  return cents(Math.max(due - usedCents, 0));
}
