import type { Scope, WriteScope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { BudgetId } from '../../../platform/ids.ts';
import type { PlacedWindow } from '../budget-windows/place-usage.ts';

/** Adds to what a window may spend; makes the window if it is not there yet. */
export const addTopUp = ({ db, organizationId, now }: WriteScope, window: PlacedWindow, amount: string) => db`
  insert into budget_windows as w (id, organization_id, budget_id, group_key, group_values, starts_at, ends_at,
    topped_up, created_at)
  values (${window.id}, ${organizationId}, ${window.budget.id}, decode(${window.groupKey}, 'hex'),
    ${json(window.group)}::jsonb, ${window.from}, ${window.to}, ${amount}::numeric, ${now()})
  on conflict (id) do update set topped_up = w.topped_up + excluded.topped_up`;

/** Lets the sweep look at all windows of a budget, from the newest on. */
export const sweepWindowsOf = ({ db, organizationId }: Scope, id: BudgetId) => db`
  update budgets set sweeps_from = 'infinity', sweeps_from_id = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
  where organization_id = ${organizationId} and id = ${id}`;
