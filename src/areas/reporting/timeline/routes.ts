import type { Operation } from '../../../platform/operation.ts';
import { showCustomerTimeline } from './reads.ts';
import { CustomerTimeline, CustomerTimelineQuery } from './schema.ts';

export const timelineOperations: Operation[] = [
  {
    name: 'findCustomerTimeline',
    method: 'get',
    path: '/customers/:external_id/timeline',
    permission: 'customer',
    tag: 'customers',
    summary: 'What happened around a customer, newest first, of the kinds that the key may read',
    query: CustomerTimelineQuery,
    answer: CustomerTimeline,
    kind: 'read',
    run: showCustomerTimeline,
  },
];
