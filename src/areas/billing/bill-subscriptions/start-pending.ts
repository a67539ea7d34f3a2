import { isDateAfter } from '../../../engine/calendar/instants.ts';
import { localDate } from '../../../engine/calendar/local-day.ts';
import { periodicJob } from '../../../platform/periodic-job.ts';
import { startSubscription } from '../../subscriptions/subscriptions/commands/start.ts';
import { getPlanFacts } from '../../subscriptions/subscriptions/writes.ts';
import { dueSubscription, earliestStart, listStartable, SubscriptionItem } from './due-subscriptions.ts';
import { lockSubscriptionIn } from './lock-subscription.ts';

/**
 * Starts subscriptions in the first tick of their local day. Rules: periodic-jobs.md#activate,
 * subscriptions.md#creation-and-first-billing.
 */
export const activate = periodicJob({
  name: 'activate',
  item: SubscriptionItem,
  select: async (sql, at, reach, limit) => (await listStartable(sql, at, reach, limit)).map(dueSubscription),
  async work(ctx, item, at) {
    const locked = await lockSubscriptionIn(ctx, item.subscription_id, 'pending');
    if (!locked) return;
    const { subscription, customer } = locked;
    if (isDateAfter(localDate(subscription.subscription_at, customer.zone), localDate(at, customer.zone))) return;
    const plan = await getPlanFacts(ctx, subscription.plan_id);
    await startSubscription(ctx, subscription, { plan, zone: customer.zone, at });
  },
  nextDueAt: async (scope) => (await earliestStart(scope))[0]!.at,
});
