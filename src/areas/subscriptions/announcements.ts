import type { Temporal } from 'temporal-polyfill';
import { announcement } from '../../platform/reactions.ts';
import type { CreditNoteOnTermination, SubscriptionRow } from './subscriptions/queries.ts';
import type { PlanFacts } from './subscriptions/writes.ts';

/**
 * A subscription that was paid in advance is about to end with unused days, which are to be given back as `choice`
 * says. The caller holds the customer's lock and ends the subscription afterwards.
 */
export const paidSubscriptionEnds = announcement<{
  plan: PlanFacts;
  subscription: SubscriptionRow;
  at: Temporal.Instant;
  choice: Exclude<CreditNoteOnTermination, 'skip'>;
  isUpgrade: boolean;
}>('subscription.paid_one_ends');
