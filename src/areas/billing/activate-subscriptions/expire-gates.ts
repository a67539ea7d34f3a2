import { selectedDue } from '../../../platform/db/keyset.ts';
import { periodicJob } from '../../../platform/periodic-job.ts';
import { dueSubscription, SubscriptionItem } from '../bill-subscriptions/due-subscriptions.ts';
import { earliestExpiry, listExpired } from './gated-subscriptions.ts';
import { settleGate } from './settle-gate.ts';

/**
 * Cancels subscriptions that waited too long for a payment. Rules: periodic-jobs.md#expire-gates, activation-rules.md.
 */
export const expireGates = periodicJob({
  name: 'expire-gates',
  item: SubscriptionItem,
  select: async (sql, at, reach, page) => selectedDue(await listExpired(sql, at, reach, page), page, dueSubscription),
  work: (ctx, item, at) => settleGate(ctx, item.subscription_id, at),
  nextDueAt: async (scope) => (await earliestExpiry(scope))[0]!.at,
});
