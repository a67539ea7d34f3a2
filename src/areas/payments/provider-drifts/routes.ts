import { type Operation, runsAsFlow } from '../../../platform/operation.ts';
import { showDrift, showDrifts } from './reads.ts';
import { DriftEnvelope, DriftList, DriftRepair, DriftsQuery } from './schema.ts';

const common = { permission: 'reconciliation', tag: 'provider_drifts' } as const;

/** Differences between providers' records and ours. Rule: provider-reconciliation.md#routes. */
export const providerDriftOperations: Operation[] = [
  {
    ...common,
    name: 'findAllProviderDrifts',
    method: 'get',
    path: '/provider_drifts',
    summary: 'List what differs between payment providers and our records',
    query: DriftsQuery,
    answer: DriftList,
    kind: 'read',
    run: showDrifts,
  },
  {
    ...common,
    name: 'findProviderDrift',
    method: 'get',
    path: '/provider_drifts/:svc_id',
    summary: 'Retrieve a difference between a payment provider and our records',
    answer: DriftEnvelope,
    kind: 'read',
    run: showDrift,
  },
  {
    ...common,
    name: 'repairProviderDrift',
    method: 'post',
    path: '/provider_drifts/:svc_id/repair',
    summary: 'Compare a difference anew, and apply, refund or resolve it',
    root: 'drift',
    body: DriftRepair,
    answer: DriftEnvelope,
    kind: 'command',
    asks: () => true,
    run: runsAsFlow,
  },
];
