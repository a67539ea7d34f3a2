import { decimal } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import { getRow } from '../../../platform/db/rows.ts';
import { listPage, newestFirst } from '../../../platform/lists/list-page.ts';
import { pageMeta } from '../../../platform/lists/pagination.ts';
import { type BudgetRow, budgets, listEntries, listWindows } from './queries.ts';
import type { BudgetsQuery, EntriesQuery, WindowsQuery } from './schema.ts';
import { budgetView, entryView, type ShownBudget, windowView } from './view.ts';

export async function listBudgets(ctx: Context, { query }: { query: BudgetsQuery }) {
  const { rows, meta } = await listPage(ctx, budgets, query, { order: newestFirst, searched: ['name', 'code'] });
  return { budgets: rows.map(budgetView), meta };
}

/** @throws Refusal 404 budget */
export async function showBudget(ctx: Context, { code }: { code: string }) {
  return { budget: budgetView(await getRow(ctx, budgets, code)) };
}

/** Windows of a budget with what a decision would see now. @throws Refusal 404 budget */
export async function listBudgetWindows(ctx: Context, { code, query }: { code: string; query: WindowsQuery }) {
  const row = await getRow(ctx, budgets, code);
  const budget = termsOf(row);
  const group = Object.entries(query.group ?? {}).map(([key, value]) => ({
    place: row.group_by.indexOf(key),
    value: value === '' ? null : value,
  }));
  const filters = { budget, states: query.state, group, at: query.at };
  const now = ctx.now();
  const { rows, total } = await listWindows(ctx, filters, { now, page: query });
  return { windows: rows.map((window) => windowView(budget, window, now)), meta: pageMeta(query, total) };
}

/** The ledger of a budget. @throws Refusal 404 budget */
export async function listBudgetEntries(ctx: Context, { code, query }: { code: string; query: EntriesQuery }) {
  const { id } = await getRow(ctx, budgets, code);
  const { rows, total } = await listEntries(ctx, id, { from: query.from, to: query.to, page: query });
  return { entries: rows.map(entryView), meta: pageMeta(query, total) };
}

/** The part of a budget by which its windows are shown. */
const termsOf = (row: BudgetRow): ShownBudget => ({
  id: row.id,
  mode: row.mode,
  group_by: row.group_by,
  limit: row.most,
  overrides: row.overrides.map(({ values, limit }) => ({ values, limit: decimal(limit) })),
});
