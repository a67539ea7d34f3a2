import type { Context } from '../../../platform/context.ts';
import type { CustomerId, SubscriptionId } from '../../../platform/ids.ts';
import type { SubscriptionRow } from '../../subscriptions/subscriptions/queries.ts';
import { type LockedCustomer, lockCustomerById, lockSubscriptions } from '../../subscriptions/subscriptions/writes.ts';

/**
 * A subscription and its customer, the customer locked first; undefined when the subscription is no longer in `status`.
 */
export async function lockSubscriptionIn(
  ctx: Context,
  id: SubscriptionId,
  status: SubscriptionRow['status'],
): Promise<{ subscription: SubscriptionRow; customer: LockedCustomer } | undefined> {
  const [owner] = await ctx.db<{ customer_id: CustomerId }[]>`
    select customer_id from subscriptions where organization_id = ${ctx.organizationId} and id = ${id}`;
  if (!owner) return undefined;
  const customer = await lockCustomerById(ctx, owner.customer_id);
  const [subscription] = await lockSubscriptions(ctx, [id]);
  return customer && subscription?.status === status ? { subscription, customer } : undefined;
}
