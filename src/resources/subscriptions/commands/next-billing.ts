import type { Temporal } from 'temporal-polyfill';
import { billingDayFrom } from '../../../engine/calendar/billing-day.ts';
import { dayStart, localDate } from '../../../engine/calendar/local-day.ts';
import type { PlanTerms, SubscriptionTerms } from '../../../engine/calendar/terms.ts';

/**
 * Start of the next local day on which the hourly run may bill a subscription, today included: what `next_billing_at`
 * holds. Rule: subscriptions-and-invoices C.2.
 */
export const nextBillingFrom = (
  plan: PlanTerms,
  subscription: SubscriptionTerms,
  zone: string,
  now: Temporal.Instant,
): Temporal.Instant => dayStart(billingDayFrom(plan, subscription, zone, localDate(now, zone)), zone);
