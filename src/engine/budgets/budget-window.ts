import { type Instant, isBefore } from '../calendar/instants.ts';
import { dayEnd, dayStart, localDate } from '../calendar/local-day.ts';
import type { Period } from '../calendar/period.ts';
import type { BudgetPeriod } from './budget.ts';

export interface BudgetWindow {
  from: Instant;
  /** Null: it never ends. */
  to: Instant | null;
}

export interface WindowTerms {
  period: BudgetPeriod;
  zone: string;
  /** A lifetime begins with the budget. */
  createdAt: Instant;
  /** The charges period that holds the instant, for budgets by billing period. */
  billingPeriod?: Period | undefined;
}

/**
 * The window of a budget that holds an instant. Days begin at the first instant of the local date, weeks on Monday.
 *
 *   month, 2026-03-09 in Berlin → from 2026-02-28T23:00Z to 2026-03-31T22:00Z
 *
 * Rule: budgets.md#windows.
 */
export function budgetWindow({ period, zone, createdAt, billingPeriod }: WindowTerms, at: Instant): BudgetWindow {
  if (period === 'lifetime') return { from: createdAt, to: null };
  if (period === 'billing_period') return billingPeriod!; // the caller has it for such budgets
  const today = localDate(at, zone);
  if (period === 'day') return { from: dayStart(today, zone), to: dayEnd(today, zone) };
  if (period === 'week') {
    const monday = today.subtract({ days: today.dayOfWeek - 1 });
    return { from: dayStart(monday, zone), to: dayEnd(monday.add({ days: 6 }), zone) };
  }
  const first = today.with({ day: 1 });
  return { from: dayStart(first, zone), to: dayStart(first.add({ months: 1 }), zone) };
}

/** Whether a window has ended. */
export const isClosed = ({ to }: Pick<BudgetWindow, 'to'>, now: Instant): boolean => to !== null && !isBefore(now, to);
