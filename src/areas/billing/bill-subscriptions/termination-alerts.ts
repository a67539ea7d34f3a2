import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import { inReach } from '../../../platform/db/in-reach.ts';
import { keyset, type Placed, selected } from '../../../platform/db/keyset.ts';
import type { SubscriptionId } from '../../../platform/ids.ts';
import { periodicJob } from '../../../platform/periodic-job.ts';
import { oweNotice } from '../../messaging/mails/owe-mail.ts';
import { recordSubscription } from '../../subscriptions/subscriptions/announce.ts';
import { type DueRow, dueSubscription, SubscriptionItem } from './due-subscriptions.ts';

const JOB = 'termination-alerts';

/**
 * Announces that a subscription will end, once on each of the `leadDays` before the UTC day of `ending_at`.
 *
 * Rules: webhooks.md#event-types, periodic-jobs.md#termination-alerts.
 */
export const terminationAlerts = (leadDays: readonly number[]) =>
  periodicJob({
    name: JOB,
    item: SubscriptionItem,
    async select(sql, at, reach, page) {
      const rows = keyset(sql, page, sql`s.organization_id`, sql`s.ending_at, s.id`);
      const due = await sql<(DueRow & Placed)[]>`
        select s.organization_id, organization.sandbox, s.id, to_char(${utcDay(sql, at)}, 'YYYY-MM-DD') as since,
          ${rows.place}
        from subscriptions s
        join organizations organization on organization.id = s.organization_id
        where s.status = 'active' and ${isAlertDay(sql, at, leadDays)} and ${inReach(sql, reach, sql`s.organization_id`)}
          and ${rows.isBehind}
        ${rows.order}`;
      return selected(due, page, dueSubscription);
    },
    async work(ctx, { subscription_id: id }, at) {
      const [alerted] = await ctx.db<{ id: SubscriptionId }[]>`
      update subscriptions s set termination_alerted_on = ${utcDay(ctx.db, at)}
      where s.organization_id = ${ctx.organizationId} and s.id = ${id} and s.status = 'active'
        and ${isAlertDay(ctx.db, at, leadDays)}
      returning s.id`;
      if (!alerted) return;
      await recordSubscription(ctx, 'subscription.termination_alert', id);
      const occasion = `alert of ${at.toZonedDateTimeISO('UTC').toPlainDate()}`;
      oweNotice(ctx, { template: 'subscription_ending', resource_id: id, occasion, at: at.toString() });
    },
    async nextDueAt({ db, organizationId }, after) {
      const [row] = await db<{ at: Temporal.Instant | null }[]>`
      select min(alert.day at time zone 'UTC') as at
      from subscriptions s
      cross join unnest(${leadDays}::integer[]) as lead (days)
      cross join lateral (select ((s.ending_at at time zone 'UTC')::date - lead.days)::timestamp as day) alert
      where s.organization_id = ${organizationId} and s.status = 'active' and s.ending_at is not null
        and alert.day >= ${utcDay(db, after)}
        and (s.termination_alerted_on is null or s.termination_alerted_on < alert.day)`;
      return row!.at;
    },
  });

const utcDay = (db: Db, at: Temporal.Instant) => db`(${at}::timestamptz at time zone 'UTC')::date`;

/** Whether `s` ends one lead time after the day of `at`, unless it was announced on that day. */
const isAlertDay = (db: Db, at: Temporal.Instant, leadDays: readonly number[]) => db`
  (s.ending_at at time zone 'UTC')::date - ${utcDay(db, at)} = any (${leadDays}::integer[])
  and s.termination_alerted_on is distinct from ${utcDay(db, at)}`;
