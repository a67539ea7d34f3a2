import type { Operation } from '../../../platform/operation.ts';
import { createBillableMetric, deleteBillableMetric, updateBillableMetric } from './commands.ts';
import { listBillableMetrics, showBillableMetric } from './reads.ts';
import {
  BillableMetricCreate,
  BillableMetricListQuery,
  BillableMetricUpdate,
  ExpressionEvaluation,
  ExpressionResult,
} from './schema.ts';
import { evaluateMetricExpression } from './try-expression.ts';
import { BillableMetricEnvelope, BillableMetricList, CountedBillableMetricEnvelope } from './view.ts';

const metric = { permission: 'billable_metric', tag: 'billable_metrics' } as const;
const write = { ...metric, kind: 'command', root: 'billable_metric', answer: CountedBillableMetricEnvelope } as const;

const update: Operation = {
  ...write,
  name: 'updateBillableMetric',
  method: 'put',
  path: '/billable_metrics/:code',
  summary: 'Update a billable metric',
  body: BillableMetricUpdate,
  run: updateBillableMetric,
};

export const billableMetricOperations: Operation[] = [
  {
    ...write,
    name: 'createBillableMetric',
    method: 'post',
    path: '/billable_metrics',
    summary: 'Create a billable metric',
    body: BillableMetricCreate,
    run: createBillableMetric,
  },
  {
    ...metric,
    kind: 'read',
    name: 'findAllBillableMetrics',
    method: 'get',
    path: '/billable_metrics',
    summary: 'List billable metrics',
    query: BillableMetricListQuery,
    answer: BillableMetricList,
    run: listBillableMetrics,
  },
  {
    ...metric,
    kind: 'read',
    name: 'evaluateBillableMetricExpression',
    method: 'post',
    path: '/billable_metrics/evaluate_expression',
    summary: 'Evaluate an expression on an event',
    body: ExpressionEvaluation,
    answer: ExpressionResult,
    ignoresIdempotencyKey: true,
    isLogged: true,
    run: evaluateMetricExpression,
  },
  {
    ...metric,
    kind: 'read',
    name: 'findBillableMetric',
    method: 'get',
    path: '/billable_metrics/:code',
    summary: 'Retrieve a billable metric',
    answer: BillableMetricEnvelope,
    run: showBillableMetric,
  },
  update,
  { ...update, name: 'patchBillableMetric', method: 'patch', hidden: true },
  {
    ...write,
    root: undefined,
    name: 'destroyBillableMetric',
    method: 'delete',
    path: '/billable_metrics/:code',
    summary: 'Delete a billable metric',
    run: deleteBillableMetric,
  },
];
