import type { Context } from '../../../platform/context.ts';
import type { SubscriptionRow } from '../../subscriptions/subscriptions/queries.ts';
import { type LockedCustomer, lockCustomerById, lockSubscriptions } from '../../subscriptions/subscriptions/writes.ts';

/**
 * A subscription and its customer, the customer locked first; undefined when the subscription is no longer in `status`.
 */
export async function lockSubscriptionIn(
  ctx: Context,
  id: string,
  status: SubscriptionRow['status'],
): Promise<{ subscription: SubscriptionRow; customer: LockedCustomer } | undefined> {
  const [owner] = await ctx.db<{ customer_id: string }[]>`
    select customer_id from subscriptions where organization_id = ${ctx.organizationId} and id = ${id}`;
  if (!owner) return undefined;
  const customer = await lockCustomerById(ctx.db, ctx.organizationId, owner.customer_id);
  const [subscription] = await lockSubscriptions(ctx.db, ctx.organizationId, [id]);
  return customer && subscription?.status === status ? { subscription, customer } : undefined;
}
