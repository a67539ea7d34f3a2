import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import type { BudgetHoldId, BudgetId } from '../../../platform/ids.ts';
import type { DueWindow } from './sweep-budgets.ts';

/** Windows of one budget that one transaction looks at. Rule: budgets.md#life-of-a-window. */
const PAGE = 1000;

interface PassedWindow extends DueWindow {
  /** Whether a sweep has something to do there. */
  is_due: boolean;
}

/** Windows whose state may follow a change, or whose holds are released. */
export interface ChangedWindows {
  rows: DueWindow[];
  /** To be called after they were decided: the sweep goes on behind them. */
  passed(): Promise<void>;
  isMore: boolean;
}

const NOTHING: ChangedWindows = { rows: [], passed: async () => {}, isMore: false };

/**
 * The next windows of a budget that was changed, live ones, or deleted, those that hold something; newest first.
 * Whoever changes a budget begins anew.
 */
export async function listChangedWindows(ctx: Context): Promise<ChangedWindows> {
  const budget = await lockChanged(ctx);
  if (!budget) return NOTHING;
  const page = await listPage(ctx, budget);
  const rows = page.filter(({ is_due }) => is_due);
  const holds = budget.is_deleted ? await listHoldsIn(ctx, rows) : [];
  const isLast = page.length < PAGE;
  const last = page.at(-1);
  return {
    rows,
    async passed() {
      await moveOn(ctx, budget.id, isLast || !last ? null : last);
      if (holds.length > 0) await markReleased(ctx, holds);
    },
    isMore: !isLast,
  };
}

interface ChangedBudget {
  id: BudgetId;
  sweeps_from: string;
  sweeps_from_id: string;
  is_deleted: boolean;
}

async function lockChanged({ db, organizationId }: Context): Promise<ChangedBudget | undefined> {
  const [row] = await db<ChangedBudget[]>`
    select id, sweeps_from::text as sweeps_from, sweeps_from_id, deleted_at is not null as is_deleted from budgets
    where organization_id = ${organizationId} and sweeps_from is not null
    order by id limit 1
    for no key update skip locked`; // a command that holds it waits for this transaction
  return row;
}

const listPage = ({ db, organizationId, now }: Context, budget: ChangedBudget) => db<PassedWindow[]>`
  select w.id, w.budget_id, w.group_values, w.starts_at, w.ends_at,
    (${budget.is_deleted} and w.held <> 0)
      or (not ${budget.is_deleted} and (w.ends_at is null or w.ends_at > ${now()})) as is_due
  from budget_windows w
  where w.organization_id = ${organizationId} and w.budget_id = ${budget.id}
    and (w.starts_at, w.id) < (${budget.sweeps_from}::timestamptz, ${budget.sweeps_from_id}::uuid)
  order by w.starts_at desc, w.id desc limit ${PAGE}`;

const moveOn = async (
  { db, organizationId }: Context,
  id: BudgetId,
  last: { starts_at: Temporal.Instant; id: string } | null,
): Promise<void> => {
  await db`
    update budgets set sweeps_from = ${last?.starts_at ?? null}, sweeps_from_id = ${last?.id ?? null}
    where organization_id = ${organizationId} and id = ${id}`;
};

async function listHoldsIn({ db, organizationId }: Context, windows: readonly DueWindow[]): Promise<BudgetHoldId[]> {
  const rows = await db<{ hold_id: BudgetHoldId }[]>`
    select distinct hold_id from budget_hold_parts
    where organization_id = ${organizationId} and window_id = any (${windows.map(({ id }) => id)}::uuid[]) and is_open`;
  return rows.map(({ hold_id }) => hold_id);
}

/** Marks holds of which nothing is held any more. */
const markReleased = ({ db, organizationId, now }: Context, ids: readonly BudgetHoldId[]) => db`
  update budget_holds hold set status = 'released', closed_at = ${now()}
  where hold.organization_id = ${organizationId} and hold.id = any (${ids}::uuid[]) and hold.status = 'open'
    and not exists (
      select from budget_hold_parts part
      where part.organization_id = hold.organization_id and part.hold_id = hold.id and part.is_open)`;
