import type { Temporal } from 'temporal-polyfill';
import { isAfter } from '../../../engine/calendar/instants.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { inReach } from '../../../platform/db/in-reach.ts';
import { keyset, type Placed, selected } from '../../../platform/db/keyset.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { periodicJob } from '../../../platform/periodic-job.ts';
import { type DueRow, dueSubscription, SubscriptionItem } from '../../billing/bill-subscriptions/due-subscriptions.ts';
import { endOfTrialInSql, inTrial } from '../../billing/bill-subscriptions/trial-end.ts';
import { oweNotice } from '../../messaging/mails/owe-mail.ts';
import { endingAt, endOfTrial, findActive } from './subscription-notices.ts';

/**
 * Owes the mail that a trial ends within the days that its issuer chose, where it has that mail sent: once for each
 * end. A trial that is over is none of its business, however long nobody looked.
 *
 * Rules: periodic-jobs.md#trial-mails, mails.md#templates.
 */
export const trialMails = periodicJob({
  name: 'trial-mails',
  item: SubscriptionItem,
  async select(sql, at, reach, page) {
    const rows = keyset(sql, page, sql`s.organization_id`, sql`s.id`);
    const due = await sql<(DueRow & Placed)[]>`
      select s.organization_id, organization.sandbox, s.id,
        to_char(${endOfTrialInSql(sql)} at time zone 'UTC', 'YYYY-MM-DD') as since, ${rows.place}
      from ${unmailed(sql)}
        and ${endOfTrialInSql(sql)} > ${at} and ${firstDay(sql)} <= ${at}
        and ${inReach(sql, reach, sql`s.organization_id`)} and ${rows.isBehind}
      ${rows.order}`;
    return selected(due, page, dueSubscription);
  },
  async work(ctx, { subscription_id: id }, at) {
    const subscription = await findActive(ctx, id);
    const endsAt = subscription && (await endOfTrial(ctx, subscription));
    if (endsAt && isAfter(endsAt, at))
      oweNotice(ctx, { template: 'trial_ending', resource_id: id, occasion: endingAt(endsAt), at: at.toString() });
  },
  async nextDueAt(scope, after) {
    const [row] = await earliest(scope, after);
    return row!.at;
  },
});

/** Trials of customers with an address, whose issuer has their end mailed and has not mailed this one. */
const unmailed = (db: Db) => db`
  ${inTrial(db)}
  join customers customer on customer.organization_id = s.organization_id and customer.id = s.customer_id
    and customer.email <> ''
  join mail_settings setting on setting.organization_id = s.organization_id
    and setting.billing_entity_id = coalesce(s.billing_entity_id, customer.billing_entity_id)
    and (setting.templates ->> 'trial_ending')::boolean
  where s.status = 'active' and s.trial_ended_at is null and not exists (
    select from mails mail
    where mail.organization_id = s.organization_id and mail.template = 'trial_ending' and mail.is_automatic
      and mail.resource_id = s.id and mail.occasion = 'ends '
        || to_char(${endOfTrialInSql(db)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))`;

/** From when on the end is mailed. */
const firstDay = (db: Db) => db`${endOfTrialInSql(db)} - make_interval(days => setting.trial_days)`;

const earliest = ({ db, organizationId }: Scope, after: Temporal.Instant) => db<{ at: Temporal.Instant | null }[]>`
  select min(${firstDay(db)}) as at from ${unmailed(db)}
    and s.organization_id = ${organizationId} and ${endOfTrialInSql(db)} > ${after}`;
