import type { Temporal } from 'temporal-polyfill';
import { isInTrial } from '../../../engine/subscriptions/trial.ts';
import type { Context } from '../../../platform/context.ts';
import type { SubscriptionRow } from '../queries.ts';
import { recordSubscription } from '../record.ts';
import { changeSubscription, firstStartOf, type PlanFacts } from '../writes.ts';
import { nextBillingFrom } from './next-billing.ts';

/**
 * Starts a pending subscription at `at`: it becomes active and, when its plan is in advance and not in trial, owes its
 * first invoice. Rule: subscriptions-and-invoices B.4.
 */
export async function startSubscription(
  ctx: Context,
  subscription: SubscriptionRow,
  plan: PlanFacts,
  zone: string,
  at: Temporal.Instant,
): Promise<void> {
  const started = { ...subscription, started_at: at };
  await changeSubscription(
    ctx.db,
    ctx.organizationId,
    subscription.id,
    {
      status: 'active',
      started_at: at,
      activated_at: ctx.now(),
      next_billing_at: nextBillingFrom(plan, started, zone, at),
    },
    ctx.now(),
  );
  await recordSubscription(ctx, 'subscription.started', subscription.id);
  if (await bearsStartInvoice(ctx, plan, started, at)) {
    ctx.after({ job: BILL_STEP, payload: startStep(subscription.id, at) });
  }
}

/** Owed work: the invoice of a start. */
export const startStep = (subscriptionId: string, at: Temporal.Instant): BillStep => ({
  lines: [{ subscription_id: subscriptionId, reason: 'subscription_starting' }],
  at: at.toString(),
});

/** Name of the owed work that makes an invoice for lines known beforehand. */
export const BILL_STEP = 'bill-subscriptions';

/** Payload of that step: one invoice with these lines, billed at an instant. */
export interface BillStep {
  lines: { subscription_id: string; reason: 'subscription_starting' | 'subscription_terminating' }[];
  at: string;
}

/** Whether a subscription that starts at `at` is billed at once. Rule: subscriptions-and-invoices B.4. */
export async function bearsStartInvoice(
  ctx: Context,
  plan: PlanFacts,
  subscription: Pick<SubscriptionRow, 'customer_id' | 'external_id' | 'subscription_at' | 'trial_ended_at'>,
  at: Temporal.Instant,
): Promise<boolean> {
  if (!plan.pay_in_advance) return false;
  if (plan.trial_period === null || plan.trial_period.isZero()) return true;
  const firstStartedAt = await firstStartOf(
    ctx.db,
    ctx.organizationId,
    subscription.customer_id,
    subscription.external_id,
  );
  return !isInTrial({ plan, subscription, firstStartedAt }, at);
}
