import { AmountOutOfRange } from '../../../engine/money/cents.ts';
import type { Context } from '../../../platform/context.ts';
import type { Operation } from '../../../platform/operation.ts';
import { refuse } from '../../../platform/refusal.ts';
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
    tag: 'customers',
    category: 'current_usage',
    query: CurrentUsageQuery,
    answer: CustomerUsageEnvelope,
    kind: 'read',
    run: (ctx: Context, input: Parameters<typeof showCurrentUsage>[1]) =>
      refusingAbsurdAmounts(showCurrentUsage(ctx, input)),
  },
  {
    name: 'findCustomerProjectedUsage',
    fresh: true,
    method: 'get',
    path: '/customers/:external_customer_id/projected_usage',
    permission: 'customer_usage',
    summary: 'Usage of the period in progress, and what it will be at its end',
    tag: 'customers',
    category: 'current_usage',
    query: ProjectedUsageQuery,
    answer: CustomerProjectedUsageEnvelope,
    kind: 'read',
    run: (ctx: Context, input: Parameters<typeof showProjectedUsage>[1]) =>
      refusingAbsurdAmounts(showProjectedUsage(ctx, input)),
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

/** The caller sets units and prices, so an amount that overflows is refused. */
async function refusingAbsurdAmounts<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof AmountOutOfRange) throw refuse.invalid({ base: ['value_is_out_of_range'] });
    throw error;
  }
}
