import { type Instant, isAfter } from '../../../engine/calendar/instants.ts';
import { isTerminated } from '../../../engine/calendar/windows.ts';
import type { InvoicingReason } from '../../../engine/invoices/invoice-types.ts';
import type { BilledSubscription } from './payer-and-issuer.ts';

/**
 * A subscription as it was at the billing instant of a line, whenever the line is computed: an end that came later, and
 * the plan that took over then, have not happened yet. (A trial's end is looked at by the engine, which knows the
 * instant.)
 *
 * A periodic run bills active subscriptions, so its lines ignore any end, even one at their own instant.
 *
 * Rules: billing-periods.md#windows "T", invoice-operations.md#refresh-and-finalize "the same timestamp and reason".
 */
export const subscriptionOfLine = (
  subscription: BilledSubscription,
  reason: InvoicingReason,
  at: Instant,
): BilledSubscription =>
  reason === 'subscription_periodic' || !isTerminated(subscription, at) ? beforeItsEnd(subscription) : subscription;

/**
 * A subscription as an event found it: an end that came after the event was accepted has not happened yet. If both have
 * the same instant the event was first, because events.md#subscription-of-an-event includes the last instant.
 *
 * Rule: in-advance.md#units-of-one-event "days from the event's day to period end".
 */
export const subscriptionWhenAccepted = (subscription: BilledSubscription, acceptedAt: Instant): BilledSubscription =>
  subscription.terminated_at !== null && isAfter(acceptedAt, subscription.terminated_at)
    ? subscription
    : beforeItsEnd(subscription);

/** A subscription that has ended, as it was before its end; any other one unchanged. */
const beforeItsEnd = (subscription: BilledSubscription): BilledSubscription => ({
  ...subscription,
  status: subscription.status === 'terminated' ? 'active' : subscription.status,
  terminated_at: null,
  heir_id: null,
  successor_plan_id: null,
  successor_kind: null,
  was_renewed_beside_successor: false,
});
