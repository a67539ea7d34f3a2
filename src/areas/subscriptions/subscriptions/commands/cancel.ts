import type { Context } from '../../../../platform/context.ts';
import { recordSubscription } from '../announce.ts';
import type { SubscriptionRow } from '../queries.ts';
import { changeSubscription } from '../writes.ts';

/**
 * Cancels a subscription that never became active. The predecessor of a withdrawn plan change is announced.
 * Rule: subscriptions.md#statuses.
 */
export async function cancelPending(
  ctx: Context,
  pending: Pick<SubscriptionRow, 'id' | 'previous_subscription_id'>,
): Promise<void> {
  await changeSubscription(ctx, pending.id, { change: { status: 'canceled', canceled_at: ctx.now() }, now: ctx.now() });
  if (pending.previous_subscription_id !== null)
    await recordSubscription(ctx, 'subscription.updated', pending.previous_subscription_id);
}

/** Withdraws the scheduled plan changes of a subscription that ends or changes otherwise. */
export async function cancelPendingSuccessors(ctx: Context, { id }: Pick<SubscriptionRow, 'id'>): Promise<void> {
  await ctx.db`
    update subscriptions set status = 'canceled', canceled_at = ${ctx.now()}, updated_at = ${ctx.now()}
    where organization_id = ${ctx.organizationId} and previous_subscription_id = ${id} and status = 'pending'`;
}
