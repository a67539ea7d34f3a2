import type { Operation } from '../../../platform/operation.ts';
import { showCurrentUsage } from './current-usage.ts';
import { showPastUsage } from './past-usage.ts';
import { showProjectedUsage } from './projected-usage.ts';
import {
  CurrentUsageQuery,
  CustomerProjectedUsageEnvelope,
  CustomerUsageEnvelope,
  PastUsageQuery,
  ProjectedUsageQuery,
  UsagePeriodsEnvelope,
} from './schema.ts';

export const usageOperations: Operation[] = [
  {
    name: 'findCustomerCurrentUsage',
    fresh: true,
    method: 'get',
    path: '/customers/:external_customer_id/current_usage',
    permission: 'customer_usage',
    summary: 'Usage of the period in progress',
    description: 'Priced as the invoice will be, with every event that was answered before this request.',
    tag: 'customers',
    category: 'current_usage',
    query: CurrentUsageQuery,
    answer: CustomerUsageEnvelope,
    kind: 'read',
    run: showCurrentUsage,
  },
  {
    name: 'findCustomerProjectedUsage',
    fresh: true,
    method: 'get',
    path: '/customers/:external_customer_id/projected_usage',
    permission: 'customer_usage',
    summary: 'Usage of the period in progress, and what it will be at its end',
    description: 'What was used so far is drawn out to the end of the period.',
    tag: 'customers',
    category: 'current_usage',
    query: ProjectedUsageQuery,
    answer: CustomerProjectedUsageEnvelope,
    kind: 'read',
    run: showProjectedUsage,
  },
  {
    name: 'findAllCustomerPastUsage',
    method: 'get',
    path: '/customers/:external_customer_id/past_usage',
    permission: 'customer_usage',
    summary: 'Usage of billed periods',
    tag: 'customers',
    query: PastUsageQuery,
    answer: UsagePeriodsEnvelope,
    kind: 'read',
    run: showPastUsage,
  },
];
