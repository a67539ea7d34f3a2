import type { Operation } from '../../../platform/operation.ts';
import { showUsageSeries } from './reads.ts';
import { UsageSeriesEnvelope, UsageSeriesQuery } from './schema.ts';

export const usageSeriesOperations: Operation[] = [
  {
    name: 'findUsageSeries',
    method: 'get',
    path: '/subscriptions/:external_id/usage_series',
    permission: 'customer_usage',
    tag: 'customers',
    category: 'current_usage',
    summary: 'Current usage of a subscription by day or hour, priced',
    query: UsageSeriesQuery,
    answer: UsageSeriesEnvelope,
    kind: 'read',
    fresh: true,
    run: showUsageSeries,
  },
];
