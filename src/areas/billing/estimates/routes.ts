import type { Operation } from '../../../platform/operation.ts';
import { estimateFees } from './estimate-fees.ts';
import { estimateInstantFees, estimateInstantFeesOfBatch } from './instant-fees.ts';
import { EstimateBody, EstimatedEvent, EstimatedEvents, EstimatedFees, EstimatesBody, InstantFees } from './schema.ts';

const shared = {
  method: 'post',
  permission: 'event',
  tag: 'events',
  kind: 'read',
  ignoresIdempotencyKey: true,
} as const;

export const estimateOperations: Operation[] = [
  {
    ...shared,
    name: 'eventEstimateFees',
    fresh: true,
    path: '/events/estimate_fees',
    summary: 'Estimate the fees of an event paid in advance',
    description: 'Nothing is stored.',
    root: 'event',
    body: EstimatedEvent,
    documentedBody: EstimateBody,
    answer: EstimatedFees,
    run: estimateFees,
  },
  {
    ...shared,
    name: 'eventEstimateInstantFees',
    fresh: true,
    path: '/events/estimate_instant_fees',
    summary: 'Estimate the fees of an event without looking at others',
    root: 'event',
    body: EstimatedEvent,
    documentedBody: EstimateBody,
    answer: InstantFees,
    run: estimateInstantFees,
  },
  {
    ...shared,
    name: 'eventBatchEstimateInstantFees',
    fresh: true,
    path: '/events/batch_estimate_instant_fees',
    summary: 'Estimate the fees of up to 100 events without looking at others',
    body: EstimatedEvents,
    documentedBody: EstimatesBody,
    answer: InstantFees,
    run: estimateInstantFeesOfBatch,
  },
];
