import type { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import { limitOf } from '../../../engine/budgets/match-budget.ts';
import type { Context } from '../../../platform/context.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { inReach } from '../../../platform/db/in-reach.ts';
import { keyset, type Placed, selected } from '../../../platform/db/keyset.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { BudgetId, OrganizationId } from '../../../platform/ids.ts';
import { type Page, periodicJob, type Reach } from '../../../platform/periodic-job.ts';
import { type CalledWindow, sortedWindows } from '../budget-windows/decide-call.ts';
import { decideInCommand, holdCatalog } from '../budget-windows/decide-in-command.ts';
import { BUDGET_SWEEP, budgetSweep } from '../budget-windows/nudge-sweep.ts';
import { groupKey } from '../budget-windows/window-id.ts';
import { listChangedWindows } from './changed-windows.ts';
import { judgeFullness } from './full-budgets.ts';

/** Windows that one transaction looks at: it holds their locks. The rest comes with the next tick. */
const MOST_WINDOWS = 500;

/**
 * Folds entries that no decision has folded, so that what they pass is announced, and marks holds whose time is over;
 * neither waits for it to count. The states of windows follow a change of their budget, and what a deleted one held is
 * released. Rules: periodic-jobs.md#budget-sweep, budgets.md#life-of-a-window.
 */
export const sweepBudgets = periodicJob({
  name: BUDGET_SWEEP,
  item: z.object({}),
  async select(sql, at, reach, page) {
    return selected(await listDue(sql, at, reach, page), page, ({ organization_id, sandbox }) => ({
      organization_id,
      sandbox,
      item: {},
      key: `budgets-${organization_id}-${at.epochMilliseconds}`,
    }));
  },
  async work(ctx, _item, at) {
    await judgeFullness(ctx);
    const catalog = await holdCatalog(ctx);
    const changed = await listChangedWindows(ctx);
    const rows = [...(await listDueWindows(ctx)), ...changed.rows];
    if (rows.length > 0) {
      const windows = rows.map((row): CalledWindow => {
        const budget = catalog.budgets.find(({ id }) => id === row.budget_id);
        if (!budget) return { id: row.id };
        const { id, group_values: group, starts_at: from, ends_at: to } = row;
        return { id, budget, groupKey: groupKey(group), group, limit: limitOf(budget, group), from, to };
      });
      await decideInCommand(ctx, { version: catalog.version, windows: sortedWindows(windows), steps: [] });
    }
    await changed.passed();
    await markExpired(ctx);
    if (changed.isMore) ctx.after({ nudge: 'periodic.work', payload: budgetSweep(at) });
  },
  nextDueAt: nextDue,
});

interface DueOrganization extends Placed {
  organization_id: OrganizationId;
  sandbox: boolean;
}

const listDue = (db: Db, at: Temporal.Instant, reach: Reach, page: Page) => {
  const rows = keyset(db, page, db`organization.id`);
  return db<DueOrganization[]>`
    select organization.id as organization_id, organization.sandbox, ${rows.place}
    from (
      select organization_id from budget_entries where folded_at is null
      union
      select organization_id from budget_holds where status = 'open' and expires_at <= ${at}
      union
      select organization_id from budgets where sweeps_from is not null
      union
      select organization_id from budgets where is_full and deleted_at is null
    ) due
    join organizations organization on organization.id = due.organization_id
    where ${inReach(db, reach, db`organization.id`)} and ${rows.isBehind}
    ${rows.order}`;
};

export interface DueWindow {
  id: string;
  budget_id: BudgetId;
  group_values: (string | null)[];
  starts_at: Temporal.Instant;
  ends_at: Temporal.Instant | null;
}

const listDueWindows = ({ db, organizationId, now }: Context) => db<DueWindow[]>`
  select w.id, w.budget_id, w.group_values, w.starts_at, w.ends_at
  from (
    select window_id from budget_entries where organization_id = ${organizationId} and folded_at is null
    union
    select part.window_id
    from budget_holds hold
    join budget_hold_parts part on part.organization_id = hold.organization_id and part.hold_id = hold.id
      and part.is_open
    where hold.organization_id = ${organizationId} and hold.status = 'open' and hold.expires_at <= ${now()}
    limit ${MOST_WINDOWS}
  ) due
  join budget_windows w on w.organization_id = ${organizationId} and w.id = due.window_id`;

/** Marks holds as expired of which nothing is held any more. */
const markExpired = ({ db, organizationId, now }: Context) => db`
  update budget_holds hold set status = 'expired', closed_at = hold.expires_at
  where hold.organization_id = ${organizationId} and hold.status = 'open' and hold.expires_at <= ${now()}
    and not exists (
      select from budget_hold_parts part
      where part.organization_id = hold.organization_id and part.hold_id = hold.id and part.is_open)`;

async function nextDue({ db, organizationId }: Scope, after: Temporal.Instant): Promise<Temporal.Instant | null> {
  const [row] = await db<{ at: Temporal.Instant | null; is_open: boolean }[]>`
    select least((
        select min(expires_at) from budget_holds where organization_id = ${organizationId} and status = 'open'
      ), (
        select min(w.ends_at)
        from budgets budget
        join budget_windows w on w.organization_id = budget.organization_id and w.budget_id = budget.id
        where budget.organization_id = ${organizationId} and budget.is_full and budget.deleted_at is null
          and w.ends_at > ${after}
      )) as at,
      exists (select from budget_entries where organization_id = ${organizationId} and folded_at is null)
        or exists (select from budgets where organization_id = ${organizationId} and sweeps_from is not null)
        as is_open`;
  return row!.is_open ? after : row!.at;
}
