import type { Interval } from '../calendar/grid.ts';
import { type Cents, cents } from '../money/cents.ts';

export interface ComparedPlan {
  interval: Interval;
  amount_cents: number;
}

const PERIODS_A_YEAR: Record<Interval, number> = { weekly: 52, monthly: 12, quarterly: 4, semiannual: 2, yearly: 1 };

/**
 * The yearly cost of a plan in cents, used only to distinguish an upgrade from a downgrade. Currency, charges and
 * commitments are ignored. Rule: plans.md#comparison-amount.
 */
export const yearlyAmount = (plan: ComparedPlan): Cents => cents(plan.amount_cents * PERIODS_A_YEAR[plan.interval]);

/** Whether moving to another plan takes effect at once; an equal yearly amount does. Rule: plan-changes.md#upgrade. */
export const isUpgrade = (current: ComparedPlan, next: ComparedPlan): boolean =>
  yearlyAmount(next) >= yearlyAmount(current);
