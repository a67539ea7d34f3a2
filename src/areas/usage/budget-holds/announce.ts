import { decimal, decimalText } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import type { StepPayload } from '../../../steps.ts';
import { groupView } from '../budgets/view.ts';

const WEBHOOKS = {
  threshold_reached: { type: 'budget.threshold_reached', objectType: 'budget_window' },
  blocked: { type: 'budget.blocked', objectType: 'budget_window' },
  unblocked: { type: 'budget.unblocked', objectType: 'budget_window' },
  overrun: { type: 'budget.overrun', objectType: 'budget_window' },
} as const;

/**
 * Step `announce-budgets`: the outgoing events of what a decision changed: percentages that were passed, windows that
 * are blocked or free again, what was spent beyond a limit. Rule: budgets.md#life-of-a-window.
 */
export async function announceBudgets(ctx: Context, { notices }: StepPayload<'announce-budgets'>): Promise<void> {
  const ids = [...new Set(notices.map(({ budget_id }) => budget_id))];
  const rows = await ctx.db<{ id: string; code: string; group_by: string[] }[]>`
    select id, code, group_by from budgets
    where organization_id = ${ctx.organizationId} and id = any (${ids}::uuid[])`;
  const budgets = new Map(rows.map((row) => [row.id, row]));
  for (const notice of notices) {
    const budget = budgets.get(notice.budget_id);
    if (!budget) continue;
    const object = {
      svc_window_id: notice.window_id,
      budget_code: budget.code,
      group: groupView(budget, notice.group),
      ...(notice.percent === undefined ? {} : { percent: notice.percent }),
      limit: decimalText(decimal(notice.limit)),
      spent: decimalText(decimal(notice.spent)),
      held: decimalText(decimal(notice.held)),
      from: notice.from,
      to: notice.to,
    };
    ctx.record({ webhook: { ...WEBHOOKS[notice.type], objectId: notice.window_id, object } });
  }
}
