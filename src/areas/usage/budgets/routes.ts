import { crud } from '../../../platform/crud.ts';
import type { Operation } from '../../../platform/operation.ts';
import { createBudget, deleteBudget, resetBudget, topUpBudget, updateBudget } from './commands.ts';
import { listBudgetEntries, listBudgets, listBudgetWindows, showBudget } from './reads.ts';
import {
  BudgetCreate,
  BudgetsQuery,
  BudgetUpdate,
  EntriesQuery,
  EntryList,
  Reset,
  TopUp,
  WindowEnvelope,
  WindowList,
  WindowsQuery,
} from './schema.ts';
import { BudgetView } from './view.ts';

const common = { permission: 'budget', tag: 'budgets' } as const;

export const budgetOperations: Operation[] = [
  ...crud('budget', {
    words: { one: 'a budget', listed: 'budgets' },
    schemas: { create: BudgetCreate, update: BudgetUpdate, query: BudgetsQuery, view: BudgetView },
    run: {
      create: createBudget,
      list: listBudgets,
      show: showBudget,
      update: updateBudget,
      destroy: deleteBudget,
    },
  }),
  {
    ...common,
    name: 'findAllBudgetWindows',
    fresh: true,
    method: 'get',
    path: '/budgets/:code/windows',
    summary: 'List the windows of a budget',
    query: WindowsQuery,
    answer: WindowList,
    kind: 'read',
    run: listBudgetWindows,
  },
  {
    ...common,
    name: 'findAllBudgetEntries',
    fresh: true,
    method: 'get',
    path: '/budgets/:code/entries',
    summary: 'List what was spent in a budget',
    query: EntriesQuery,
    answer: EntryList,
    kind: 'read',
    run: listBudgetEntries,
  },
  {
    ...common,
    name: 'topUpBudget',
    method: 'post',
    path: '/budgets/:code/top_ups',
    summary: 'Add to the limit of the current window',
    root: 'top_up',
    body: TopUp,
    answer: WindowEnvelope,
    kind: 'command',
    run: topUpBudget,
  },
  {
    ...common,
    name: 'resetBudget',
    method: 'post',
    path: '/budgets/:code/reset',
    summary: 'Count the current window from 0 again',
    root: 'reset',
    body: Reset,
    answer: WindowEnvelope,
    kind: 'command',
    run: resetBudget,
  },
];
