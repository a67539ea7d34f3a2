import type { Context } from '../../../platform/context.ts';
import type { CustomerId } from '../../../platform/ids.ts';
import { announce } from '../../../platform/reactions.ts';
import { customerDeleted } from '../announcements.ts';

/** Delay in which the last invoices are made; they may be drafts themselves. */
const MINUTES_TO_DRAFTS = 5;

/**
 * Step `finish-customer-deletion`: ends the active subscriptions of a deleted customer, each with its last invoice,
 * cancels those that have not started, and ends its coupons and wallets; its drafts are finalized a little later. Safe
 * to run twice. Rule: customers.md#deletion-portal-checkout.
 */
export async function finishCustomerDeletion(
  ctx: Context,
  { customer_id }: { customer_id: CustomerId },
): Promise<void> {
  await announce(ctx, customerDeleted, { customer_id });
  const dueAt = ctx.now().add({ minutes: MINUTES_TO_DRAFTS });
  ctx.after({ step: 'finalize-customer-drafts', payload: { customer_id }, dueAt });
}
