import type { Operation } from '../../../platform/operation.ts';
import { createRun, showRun, showRuns } from './commands.ts';
import { RunCreate, RunEnvelope, RunList, RunsQuery } from './schema.ts';

const common = { permission: 'reconciliation', tag: 'provider_drifts' } as const;

/** Runs that compare providers' records with ours. Rule: provider-reconciliation.md#routes. */
export const providerReconciliationOperations: Operation[] = [
  {
    ...common,
    name: 'createProviderReconciliation',
    method: 'post',
    path: '/provider_reconciliations',
    summary: 'Compare payments, refunds and disputes with payment providers now',
    root: 'provider_reconciliation',
    bodyOptional: true,
    body: RunCreate,
    answer: RunEnvelope,
    kind: 'command',
    run: createRun,
  },
  {
    ...common,
    name: 'findAllProviderReconciliations',
    method: 'get',
    path: '/provider_reconciliations',
    summary: 'List comparisons with payment providers',
    query: RunsQuery,
    answer: RunList,
    kind: 'read',
    run: showRuns,
  },
  {
    ...common,
    name: 'findProviderReconciliation',
    method: 'get',
    path: '/provider_reconciliations/:svc_id',
    summary: 'Retrieve a comparison with payment providers',
    answer: RunEnvelope,
    kind: 'read',
    run: showRun,
  },
];
