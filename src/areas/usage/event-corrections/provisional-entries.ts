import { Temporal } from 'temporal-polyfill';
import { decimal } from '../../../engine/money/decimal.ts';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { BudgetHoldId, BudgetId } from '../../../platform/ids.ts';
import type { Catalog } from '../../catalog/usage-shapes/storing-catalog.ts';
import type { AddedEntry } from '../budget-windows/add-entries.ts';
import type { Count } from '../budget-windows/count-usage.ts';
import type { PlacedWindow } from '../budget-windows/place-usage.ts';

/** What stays counted of a hold in a window, since the price of its call is not known. */
export interface Provisional {
  hold_id: BudgetHoldId;
  window_id: string;
  budget_id: BudgetId;
  group_values: (string | null)[];
  starts_at: string;
  ends_at: string | null;
  amount: string;
}

/** What is provisional of hold `hold`, by window, as JSON; null if nothing is. */
export const provisionalOf = (db: Db): Fragment => db`
  (
    select jsonb_agg(jsonb_build_object('hold_id', hold.id, 'window_id', w.id, 'budget_id', w.budget_id,
      'group_values', w.group_values, 'starts_at', w.starts_at, 'ends_at', w.ends_at, 'amount', counted.amount::text))
    from (
      select entry.window_id, sum(entry.amount) as amount from budget_entries entry
      where entry.organization_id = hold.organization_id and entry.ref = hold.id::text
        and entry.source = 'provisional'
      group by entry.window_id
    ) counted
    join budget_windows w on w.organization_id = hold.organization_id and w.id = counted.window_id
    where counted.amount <> 0
  )`;

/**
 * Entries that take back what is provisional of an event: in all windows when it is retracted, else in those where its
 * figure is known now.
 */
export function takenBack(
  provisional: readonly Provisional[],
  { after, isRetracted, catalog }: { after: readonly Count[]; isRetracted: boolean; catalog: Catalog },
): AddedEntry[] {
  return provisional.flatMap((each): AddedEntry[] => {
    const budget = catalog.budgets.find(({ id }) => id === each.budget_id);
    const isKnown = isRetracted || after.some(({ window }) => window.id === each.window_id);
    if (!budget || !isKnown) return [];
    const window: PlacedWindow = {
      id: each.window_id,
      budget,
      groupKey: '', // the window is there
      group: each.group_values,
      limit: budget.limit,
      from: Temporal.Instant.from(each.starts_at),
      to: each.ends_at === null ? null : Temporal.Instant.from(each.ends_at),
    };
    const amount = decimal(each.amount).negated();
    return [{ window, amount, events: 0, makesWindow: false, source: 'provisional', ref: each.hold_id }];
  });
}
