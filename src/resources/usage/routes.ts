import type { Operation } from '../../platform/operation.ts';
import { showCurrentUsage } from './current-usage.ts';
import { CurrentUsageQuery, CustomerUsageEnvelope } from './schema.ts';

export const usageOperations: Operation[] = [
  {
    name: 'findCustomerCurrentUsage',
    method: 'get',
    path: '/customers/:external_customer_id/current_usage',
    permission: 'customer_usage',
    summary: 'Usage of the period in progress',
    tag: 'customers',
    category: 'current_usage',
    query: CurrentUsageQuery,
    answer: CustomerUsageEnvelope,
    kind: 'read',
    run: showCurrentUsage,
  },
];
