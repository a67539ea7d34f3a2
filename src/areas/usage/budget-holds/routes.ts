import type { Operation } from '../../../platform/operation.ts';
import { releaseBudgetHold, settleBudgetHold, updateBudgetHold } from './commands.ts';
import { adviseOnBudgets, listBudgetHolds, showBudgetHold } from './reads.ts';
import {
  DecisionEnvelope,
  DecisionInput,
  HoldEnvelope,
  HoldList,
  HoldSettle,
  HoldsQuery,
  HoldUpdate,
} from './schema.ts';

const HOLD = '/budget_holds/:svc_id';
const common = { permission: 'budget', tag: 'budgets' } as const;
const write = { ...common, kind: 'command', answer: HoldEnvelope, root: 'hold' } as const;

const asksOnly = ({ body }: { body: DecisionInput }): boolean =>
  body.hold_key === null && (body.settle ?? []).length === 0;

export const budgetHoldOperations: Operation[] = [
  {
    ...common,
    name: 'createBudgetDecision',
    method: 'post',
    path: '/budget_decisions',
    summary: 'Settle what was used, and hold what comes next',
    description: 'Both in one step, so that an agent asks once a turn.',
    category: 'budgets',
    root: 'decision',
    body: DecisionInput,
    answer: DecisionEnvelope,
    kind: 'read',
    fresh: true,
    ignoresIdempotencyKey: true,
    isDecided: (input) => !asksOnly(input),
    settlesUsage: true,
    run: adviseOnBudgets,
  },
  {
    ...common,
    name: 'findAllBudgetHolds',
    fresh: true,
    method: 'get',
    path: '/budget_holds',
    summary: 'List what is held of budgets',
    query: HoldsQuery,
    answer: HoldList,
    kind: 'read',
    run: listBudgetHolds,
  },
  {
    ...common,
    name: 'findBudgetHold',
    fresh: true,
    method: 'get',
    path: HOLD,
    summary: 'Retrieve a hold, by its id or `key:` and its key',
    answer: HoldEnvelope,
    kind: 'read',
    run: showBudgetHold,
  },
  {
    ...write,
    name: 'updateBudgetHold',
    method: 'put',
    path: HOLD,
    summary: 'Prolong or change a hold of budgets',
    body: HoldUpdate,
    run: updateBudgetHold,
  },
  {
    ...write,
    name: 'settleBudgetHold',
    method: 'post',
    path: `${HOLD}/settle`,
    summary: 'Settle a hold of budgets by an event, usage of a model, or an amount',
    body: HoldSettle,
    settlesUsage: true,
    run: settleBudgetHold,
  },
  {
    ...common,
    name: 'releaseBudgetHold',
    method: 'post',
    path: `${HOLD}/release`,
    summary: 'Give a hold of budgets back',
    answer: HoldEnvelope,
    kind: 'command',
    run: releaseBudgetHold,
  },
];
