import type { Decimal } from '../money/decimal.ts';
import { decimal, max, ZERO } from '../money/decimal.ts';
import type { BudgetMode } from './budget.ts';

/** `closed` is what the clock says of any of the others. */
export const WINDOW_STATES = ['open', 'blocked', 'over', 'closed'] as const;
export type WindowState = (typeof WINDOW_STATES)[number];

/** Figures of a window; the limit contains what was topped up. */
export interface WindowFigures {
  limit: Decimal;
  spent: Decimal;
  held: Decimal;
}

/** What further holds may take; less than nothing after an overrun. Rule: budgets.md#storage. */
export const roomOf = ({ limit, spent, held }: WindowFigures): Decimal => limit.minus(spent).minus(held);

/** What was spent beyond the limit. Rule: budgets.md#storage. */
export const overrunOf = ({ limit, spent }: Pick<WindowFigures, 'limit' | 'spent'>): Decimal =>
  max(ZERO, spent.minus(limit));

/**
 * The state of a window that has not ended. Holds do not count: a window that is only held full is `open` and refuses.
 *
 * Rule: budgets.md#life-of-a-window.
 */
export function stateOf(mode: BudgetMode, { limit, spent }: Pick<WindowFigures, 'limit' | 'spent'>): WindowState {
  if (spent.lt(limit)) return 'open';
  return mode === 'hard' ? 'blocked' : 'over';
}

/**
 * Percentages that spending has passed and that were not announced before, ascending. The greatest of them is kept, so
 * that each is announced once, also after a correction below it.
 *
 *   spent 85 of 100, of 50, 80, 100, announced 50 → 80
 *
 * Rule: budgets.md#life-of-a-window.
 */
export const passedPercents = (
  percents: readonly number[],
  { limit, spent }: Pick<WindowFigures, 'limit' | 'spent'>,
  announced: number,
): number[] =>
  percents
    .filter((percent) => percent > announced && spent.times(100).gte(limit.times(decimal(percent))))
    .sort((a, b) => a - b);
