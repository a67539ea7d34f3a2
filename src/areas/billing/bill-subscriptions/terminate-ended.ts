import { isDateAfter } from '../../../engine/calendar/instants.ts';
import { localDate } from '../../../engine/calendar/local-day.ts';
import { periodicJob } from '../../../platform/periodic-job.ts';
import { terminateSubscription } from '../../subscriptions/subscriptions/commands/terminate.ts';
import { dueSubscription, earliestEnd, listEnded, SubscriptionItem } from './due-subscriptions.ts';
import { lockSubscriptionIn } from './lock-subscription.ts';

/**
 * Ends subscriptions in the first tick of the local day of `ending_at`. Rules: periodic-jobs.md#terminate-ended,
 * termination.md#ending-a-subscription.
 */
export const terminateEnded = periodicJob({
  name: 'terminate-ended',
  item: SubscriptionItem,
  select: async (sql, at, reach, limit) => (await listEnded(sql, at, reach, limit)).map(dueSubscription),
  async work(ctx, item, at) {
    const locked = await lockSubscriptionIn(ctx, item.subscription_id, 'active');
    const endingAt = locked?.subscription.ending_at ?? null;
    if (!locked || endingAt === null) return;
    if (isDateAfter(localDate(endingAt, locked.customer.zone), localDate(at, locked.customer.zone))) return;
    await terminateSubscription(ctx, locked.subscription);
  },
  nextDueAt: async (scope) => (await earliestEnd(scope))[0]!.at,
});
