import type { Decimal } from '../../../engine/money/decimal.ts';
import type { WriteScope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import { newId } from '../../../platform/ids.ts';
import type { PlacedWindow } from './place-usage.ts';

/** What is added to a window. */
export interface AddedEntry {
  window: PlacedWindow;
  /** Also less than nothing. */
  amount: Decimal;
  /** How many events it stands for. */
  events: number;
  /** Whether the window is made if it is not there; else the entry is left out then. */
  makesWindow: boolean;
  source: 'correction' | 'provisional';
  /** Id of what it comes from: a correction, or the hold of what is provisional. */
  ref: string;
}

/**
 * Appends entries to the ledger, which count at once, and makes windows that are missing. No window is locked.
 *
 * Rule: budgets.md#storage.
 */
export const addEntries = ({ db, organizationId, now }: WriteScope, entries: readonly AddedEntry[]) => {
  const rows = [...entries]
    .sort((a, b) => (a.window.id < b.window.id ? -1 : 1))
    .map(({ window, amount, events, makesWindow, source, ref }) => ({
      entry_id: newId(),
      id: window.id,
      budget_id: window.budget.id,
      group_key: window.groupKey,
      group_values: window.group,
      starts_at: window.from.toString(),
      ends_at: window.to?.toString() ?? null,
      makes_window: makesWindow && !window.budget.is_full,
      amount: amount.toFixed(),
      events,
      source,
      ref,
    }));
  return db`
    with given as materialized (
      select * from jsonb_to_recordset(${json(rows)}::jsonb) as given (entry_id uuid, id uuid, budget_id uuid,
        group_key text, group_values jsonb, starts_at timestamptz, ends_at timestamptz, makes_window boolean,
        amount numeric, events integer, source text, ref text)
    ), made as (
      insert into budget_windows (id, organization_id, budget_id, group_key, group_values, starts_at, ends_at,
        created_at)
      select id, ${organizationId}, budget_id, decode(group_key, 'hex'), group_values, starts_at, ends_at, ${now()}
      from given
      where makes_window and not exists (select from budget_windows known where known.id = given.id)
      order by id
      on conflict do nothing
    ), stored as (
      insert into budget_entries (id, organization_id, window_id, amount, events, source, ref, created_at)
      select entry_id, ${organizationId}, id, amount, events, source, ref, ${now()} from given
      where makes_window or exists (select from budget_windows known where known.id = given.id)
      returning true
    )
    select count(*) from stored`;
};
