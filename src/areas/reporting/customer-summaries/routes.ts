import type { Operation } from '../../../platform/operation.ts';
import { showCustomerSummaries } from './reads.ts';
import { CustomerSummaries, CustomerSummariesQuery } from './schema.ts';

export const customerSummaryOperations: Operation[] = [
  {
    name: 'findCustomerSummaries',
    method: 'get',
    path: '/customer_summaries',
    permission: 'customer',
    tag: 'customers',
    summary: 'What up to a hundred customers owe, and their last events',
    query: CustomerSummariesQuery,
    answer: CustomerSummaries,
    kind: 'read',
    run: showCustomerSummaries,
  },
];
