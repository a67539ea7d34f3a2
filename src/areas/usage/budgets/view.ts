import { z } from 'zod';
import type { Budget } from '../../../engine/budgets/budget.ts';
import { isClosed } from '../../../engine/budgets/budget-window.ts';
import { type Group, limitOf } from '../../../engine/budgets/match-budget.ts';
import { overrunOf, roomOf, stateOf } from '../../../engine/budgets/window-state.ts';
import { decimal, decimalText } from '../../../engine/money/decimal.ts';
import { viewOf, viewSchema } from '../../../platform/schema/columns.ts';
import { seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import { type BudgetRow, budgets, type EntryRow, type WindowRow } from './queries.ts';
import type { EntryView, WindowView } from './schema.ts';

export const BudgetView = viewSchema(budgets).extend({ limit: z.string(), offline_allowance: z.string() });
export type BudgetView = z.infer<typeof BudgetView>;

export const budgetView = (row: BudgetRow): BudgetView => ({
  ...viewOf(budgets, row),
  limit: decimalText(row.most),
  offline_allowance: decimalText(row.offline_allowance),
  overrides: row.overrides.map(({ values, limit }) => ({ values, limit: decimalText(decimal(limit)) })),
});

/** What is needed of a budget to show its windows. */
export type ShownBudget = Pick<Budget, 'id' | 'mode' | 'group_by' | 'limit' | 'overrides'>;

/** Values of a group by the keys of `group_by`. */
export const groupView = ({ group_by }: Pick<Budget, 'group_by'>, group: Group): Record<string, string | null> =>
  Object.fromEntries(group_by.map((key, index) => [key, group[index] ?? null]));

/** A window with its figures at `now`. Rule: budgets.md#life-of-a-window. */
export function windowView(budget: ShownBudget, row: WindowRow, now: Parameters<typeof isClosed>[1]): WindowView {
  const limit = limitOf(budget, row.group_values).plus(row.topped_up);
  const figures = { limit, spent: row.spent, held: row.held };
  return {
    svc_id: row.id,
    group: groupView(budget, row.group_values),
    from: seconds(row.starts_at),
    to: secondsOrNull(row.ends_at),
    limit: decimalText(limit),
    topped_up: decimalText(row.topped_up),
    spent: decimalText(row.spent),
    held: decimalText(row.held),
    remaining: decimalText(roomOf(figures)),
    overrun: decimalText(overrunOf(figures)),
    state: isClosed({ to: row.ends_at }, now) ? 'closed' : stateOf(budget.mode, figures),
    decision_no: row.decision_no,
  };
}

export const entryView = (row: EntryRow): z.infer<typeof EntryView> => ({
  svc_id: row.id,
  svc_window_id: row.window_id,
  amount: decimalText(row.amount),
  events: row.events,
  source: row.source,
  svc_hold_id: row.hold_id,
  event_transaction_id: row.event_transaction_id,
  created_at: seconds(row.created_at),
});
