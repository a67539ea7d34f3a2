import type { Temporal } from 'temporal-polyfill';
import { isAfter } from '../../../engine/calendar/instants.ts';
import { localDate } from '../../../engine/calendar/local-day.ts';
import { startOf } from '../../../engine/calendar/terms.ts';
import { trialEnd as endOfTrial } from '../../../engine/subscriptions/trial.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { inReach } from '../../../platform/db/in-reach.ts';
import { keyset, type Placed, selected } from '../../../platform/db/keyset.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { SubscriptionId } from '../../../platform/ids.ts';
import { type Page, periodicJob, type Reach } from '../../../platform/periodic-job.ts';
import { recordSubscription } from '../../subscriptions/subscriptions/announce.ts';
import { changeSubscription, firstStartOf, getPlanFacts } from '../../subscriptions/subscriptions/writes.ts';
import { buildInvoice } from '../build-invoice/build-invoice.ts';
import { lockPayer } from '../build-invoice/payer-and-issuer.ts';
import { type DueRow, dueSubscription, SubscriptionItem } from './due-subscriptions.ts';
import { lockSubscriptionIn } from './lock-subscription.ts';

/**
 * Closes trials that are over; a plan in advance that was not billed that day gets its first fee, from the trial's end
 * on. Rules: periodic-jobs.md#trial-end, subscription-fees.md#trial.
 */
export const trialEnd = periodicJob({
  name: 'trial-end',
  item: SubscriptionItem,
  select: async (sql, at, reach, page) => selected(await listTrialsOver(sql, at, reach, page), page, dueSubscription),
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

/** End of the trial of `inTrial`, to the second; the engine works with the exact instant. */
export const endOfTrialInSql = (db: Db) => db`
  (coalesce((select min(record.started_at) from subscriptions record
     where record.organization_id = s.organization_id and record.customer_id = s.customer_id
       and record.external_id = s.external_id), s.subscription_at)
   + interval '1 second' * floor(plan.trial_period * 86400)::float8)`;

/** Subscriptions `s` whose plan has a trial. */
export const inTrial = (db: Db) => db`
  subscriptions s
  join plans plan on plan.organization_id = s.organization_id and plan.id = s.plan_id and plan.trial_period > 0
  join organizations organization on organization.id = s.organization_id`;

/** Active subscriptions whose trial is over and not yet closed. */
const listTrialsOver = (db: Db, at: Temporal.Instant, reach: Reach, page: Page) => {
  const rows = keyset(db, page, db`s.organization_id`, db`s.id`);
  return db<(DueRow & Placed)[]>`
    select s.organization_id, organization.sandbox, s.id, to_char(s.subscription_at at time zone 'UTC',
      'YYYY-MM-DD') as since, ${rows.place}
    from ${inTrial(db)}
    where s.status = 'active' and s.trial_ended_at is null and ${endOfTrialInSql(db)} <= ${at}
      and ${inReach(db, reach, db`s.organization_id`)} and ${rows.isBehind}
    ${rows.order}`;
};

const earliestTrialEnd = ({ db, organizationId }: Scope) => db<{ at: Temporal.Instant | null }[]>`
  select min(${endOfTrialInSql(db)}) as at from ${inTrial(db)}
  where s.organization_id = ${organizationId} and s.status = 'active' and s.trial_ended_at is null`;

/**
 * Whether a subscription's fee was billed on a local day, by a periodic run or with its start.
 * Rule: subscription-fees.md#trial.
 */
async function wasBilledOn(
  { db, organizationId }: Scope,
  subscriptionId: SubscriptionId,
  days: { trialEndsOn: Temporal.PlainDate; startedOn: Temporal.PlainDate },
): Promise<boolean> {
  const [row] = await db<{ found: boolean }[]>`
    select exists (
      select from invoice_subscriptions line
      where line.organization_id = ${organizationId} and line.subscription_id = ${subscriptionId}
        and not line.regenerated
        and (line.recurring and line.billed_on = ${days.trialEndsOn}
          or line.billed_on = ${days.startedOn} and exists (
            select from fees fee
            where fee.organization_id = line.organization_id and fee.invoice_id = line.invoice_id
              and fee.subscription_id = line.subscription_id and fee.fee_type = 'subscription'
              and fee.deleted_at is null))
    ) as found`;
  return row!.found;
}
