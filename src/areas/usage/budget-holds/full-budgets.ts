import type { Context } from '../../../platform/context.ts';
import type { BudgetId } from '../../../platform/ids.ts';
import { raiseShapesVersion } from '../../catalog/usage-shapes/commands.ts';
import { lockOrganizationEvents } from '../../catalog/usage-shapes/shape-locks.ts';

/**
 * Counts the live windows of budgets with groups: while one has more than `BUDGET_WINDOWS_MAX`, no more are made. What
 * storing looks at changes with it, so no event and no decision is under way then. A budget that becomes full is
 * announced, since usage of new groups is left out of it from then on.
 *
 * Rule: budgets.md#windows.
 */
export async function judgeFullness(ctx: Context): Promise<void> {
  const judged = await listJudged(ctx);
  const changed = judged.filter(({ is_full, was_full }) => is_full !== was_full);
  if (changed.length === 0) return;
  const locked = await lockBudgets(ctx, changed);
  await lockOrganizationEvents(ctx);
  await raiseShapesVersion(ctx);
  for (const { id, code, is_full } of changed) {
    if (!locked.has(id)) continue;
    await setFull(ctx, id, is_full);
    if (is_full) announceFull(ctx, { id, code });
  }
}

interface JudgedBudget {
  id: BudgetId;
  code: string;
  was_full: boolean;
  is_full: boolean;
}

const listJudged = ({ db, organizationId, now, config }: Context) => db<JudgedBudget[]>`
  select budget.id, budget.code, budget.is_full as was_full, counted.windows > ${config.BUDGET_WINDOWS_MAX} as is_full
  from budgets budget
  cross join lateral (
    select count(*) as windows from (
      select from budget_windows w
      where w.organization_id = ${organizationId} and w.budget_id = budget.id
        and (w.ends_at is null or w.ends_at > ${now()})
      limit ${config.BUDGET_WINDOWS_MAX + 1}
    ) live
  ) counted
  where budget.organization_id = ${organizationId} and budget.deleted_at is null and budget.group_by <> '{}'`;

/** Without those that a command holds, which waits for the organization's lock next: the next sweep judges them. */
async function lockBudgets({ db, organizationId }: Context, judged: readonly JudgedBudget[]): Promise<Set<BudgetId>> {
  const rows = await db<{ id: BudgetId }[]>`
    select id from budgets
    where organization_id = ${organizationId} and id = any (${judged.map(({ id }) => id)}::uuid[])
    order by id for no key update skip locked`;
  return new Set(rows.map(({ id }) => id));
}

const setFull = ({ db, organizationId }: Context, id: BudgetId, isFull: boolean) => db`
  update budgets set is_full = ${isFull} where organization_id = ${organizationId} and id = ${id}`;

const announceFull = (ctx: Context, { id, code }: { id: BudgetId; code: string }): void =>
  ctx.record({
    webhook: {
      type: 'budget.overrun',
      objectType: 'budget',
      objectId: id,
      object: {
        svc_id: id,
        budget_code: code,
        reason: 'too_many_windows',
        windows_limit: ctx.config.BUDGET_WINDOWS_MAX,
      },
    },
  });
