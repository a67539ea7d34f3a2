import type { Operation } from '../../../platform/operation.ts';
import { showExplanation, showFeeEvents } from './explain-fees.ts';
import { ExplanationEnvelope, FeeEventList, FeeEventsQuery } from './schema.ts';

const shared = { method: 'get', permission: 'fee', tag: 'fees', kind: 'read' } as const;

export const feeExplanationOperations: Operation[] = [
  {
    ...shared,
    name: 'findFeeExplanation',
    path: '/fees/:svc_id/explanation',
    summary: 'Explain how the amount of a fee came about',
    description: 'Step by step, with the rule behind each and the numbers that went in.',
    answer: ExplanationEnvelope,
    run: showExplanation,
  },
  {
    ...shared,
    name: 'findAllFeeEvents',
    path: '/fees/:svc_id/events',
    summary: 'List the events behind a usage fee',
    query: FeeEventsQuery,
    answer: FeeEventList,
    run: showFeeEvents,
  },
];
