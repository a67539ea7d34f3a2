import type { Context } from '../../platform/context.ts';
import { endSubscriptionsOf } from '../subscriptions/commands/terminate.ts';

/**
 * Step `finish-customer-deletion`: ends the active subscriptions of a deleted customer, each with its last invoice, and
 * cancels those that have not started. Safe to run twice. Rule: platform F.4.
 */
export async function finishCustomerDeletion(ctx: Context, { customer_id }: { customer_id: string }): Promise<void> {
  await endSubscriptionsOf(ctx, { customerId: customer_id });
}
