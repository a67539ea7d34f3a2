import type { WriteScope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { PlacedWindow } from '../budget-windows/place-usage.ts';

/** Adds to what a window may spend; makes the window if it is not there yet. */
export const addTopUp = ({ db, organizationId, now }: WriteScope, window: PlacedWindow, amount: string) => db`
  insert into budget_windows as w (id, organization_id, budget_id, group_key, group_values, starts_at, ends_at,
    topped_up, created_at)
  values (${window.id}, ${organizationId}, ${window.budget.id}, decode(${window.groupKey}, 'hex'),
    ${json(window.group)}::jsonb, ${window.from}, ${window.to}, ${amount}::numeric, ${now()})
  on conflict (id) do update set topped_up = w.topped_up + excluded.topped_up`;
