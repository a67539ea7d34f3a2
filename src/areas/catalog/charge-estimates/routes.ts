import type { Operation } from '../../../platform/operation.ts';
import { estimateCharge } from './estimate-charge.ts';
import { ChargeEstimate, ChargeEstimateEnvelope } from './schema.ts';

export const chargeEstimateOperations: Operation[] = [
  {
    name: 'estimateCharge',
    method: 'post',
    path: '/charge_estimates',
    permission: 'plan',
    mode: 'read',
    tag: 'plans',
    summary: 'What numbers of units would cost under a charge',
    description: 'By the same code as invoices. Nothing is stored.',
    root: 'charge_estimate',
    body: ChargeEstimate,
    answer: ChargeEstimateEnvelope,
    kind: 'read',
    ignoresIdempotencyKey: true,
    run: estimateCharge,
  },
];
