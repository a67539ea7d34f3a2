import type { Operation } from '../../../platform/operation.ts';
import { showCustomerNames } from './reads.ts';
import { CustomerNames, CustomerNamesQuery } from './schema.ts';

export const customerNameOperations: Operation[] = [
  {
    name: 'findCustomerNames',
    method: 'get',
    path: '/customer_names',
    permission: 'customer',
    tag: 'customers',
    summary: 'What up to a hundred customers are called',
    query: CustomerNamesQuery,
    answer: CustomerNames,
    kind: 'read',
    run: showCustomerNames,
  },
];
