import { isAfter } from '../../../engine/calendar/instants.ts';
import { localDate } from '../../../engine/calendar/local-day.ts';
import { startOf } from '../../../engine/calendar/terms.ts';
import { trialEnd as endOfTrial } from '../../../engine/subscriptions/trial.ts';
import { periodicJob } from '../../../platform/periodic-job.ts';
import { recordSubscription } from '../../subscriptions/subscriptions/announce.ts';
import { changeSubscription, firstStartOf, getPlanFacts } from '../../subscriptions/subscriptions/writes.ts';
import { buildInvoice } from '../build-invoice/build-invoice.ts';
import { lockPayer } from '../build-invoice/payer-and-issuer.ts';
import {
  dueSubscription,
  earliestTrialEnd,
  listTrialsOver,
  SubscriptionItem,
  wasBilledOn,
} from './due-subscriptions.ts';
import { lockSubscriptionIn } from './lock-subscription.ts';

/**
 * Closes trials that are over; a plan in advance that was not billed that day gets its first fee, from the trial's end
 * on. Rules: periodic-jobs.md#trial-end, subscription-fees.md#trial.
 */
export const trialEnd = periodicJob({
  name: 'trial-end',
  item: SubscriptionItem,
  select: async (sql, at, reach, limit) => (await listTrialsOver(sql, at, reach, limit)).map(dueSubscription),
  async work(ctx, item, at) {
    const locked = await lockSubscriptionIn(ctx, item.subscription_id, 'active');
    if (!locked || locked.subscription.trial_ended_at !== null) return;
    const { subscription, customer } = locked;
    const plan = await getPlanFacts(ctx, subscription.plan_id);
    const firstStartedAt = await firstStartOf(ctx, customer.id, subscription.external_id);
    const endsAt = endOfTrial({ plan, subscription, firstStartedAt });
    if (endsAt === undefined || isAfter(endsAt, at)) return;

    const days = {
      trialEndsOn: localDate(endsAt, customer.zone),
      startedOn: localDate(startOf(subscription), customer.zone),
    };
    if (plan.pay_in_advance && !(await wasBilledOn(ctx, subscription.id, days))) {
      const payer = await lockPayer(ctx, customer.id);
      const lines = [{ subscription_id: subscription.id, reason: 'subscription_starting' as const, endsTrial: true }];
      await buildInvoice(ctx, { payer, lines, at, skipUsage: true });
    }
    await changeSubscription(ctx, subscription.id, { change: { trial_ended_at: endsAt }, now: ctx.now() });
    await recordSubscription(ctx, 'subscription.trial_ended', subscription.id);
  },
  nextDueAt: async (scope) => (await earliestTrialEnd(scope))[0]!.at,
});
