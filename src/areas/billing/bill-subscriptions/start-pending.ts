import type { Temporal } from 'temporal-polyfill';
import { isDateAfter } from '../../../engine/calendar/instants.ts';
import { localDate } from '../../../engine/calendar/local-day.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { inReach } from '../../../platform/db/in-reach.ts';
import { keyset, type Placed, selectedDue } from '../../../platform/db/keyset.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { type Page, periodicJob, type Reach } from '../../../platform/periodic-job.ts';
import { startSubscription } from '../../subscriptions/subscriptions/commands/start.ts';
import { getPlanFacts } from '../../subscriptions/subscriptions/writes.ts';
import {
  dueSubscription,
  localDayStart,
  type PossiblyDueRow,
  SubscriptionItem,
  withZone,
} from './due-subscriptions.ts';
import { lockSubscriptionIn } from './lock-subscription.ts';

/**
 * Starts subscriptions in the first tick of their local day. Rules: periodic-jobs.md#activate,
 * subscriptions.md#creation-and-first-billing.
 */
export const activate = periodicJob({
  name: 'activate',
  item: SubscriptionItem,
  select: async (sql, at, reach, page) => selectedDue(await listStartable(sql, at, reach, page), page, dueSubscription),
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

// A start waits while another record of the external id is active: there is at most one.
const isFree = (db: Db) => db`
  not exists (
    select from subscriptions other
    where other.organization_id = s.organization_id and other.external_id = s.external_id
      and other.status in ('active', 'incomplete'))`;
const waits = (db: Db) => db`s.status = 'pending' and s.previous_subscription_id is null`;

/** Pending subscriptions whose first local day may have begun. */
const listStartable = (db: Db, at: Temporal.Instant, reach: Reach, page: Page) => {
  const rows = keyset(db, page, db`s.organization_id`, db`s.subscription_at, s.id`);
  // The page is cut before anything is asked about its rows, so that a page costs the same however many are due.
  return db<(PossiblyDueRow & Placed)[]>`
    with page as materialized (
      select s.organization_id, s.customer_id, s.external_id, s.id, s.subscription_at, ${rows.place}
      from subscriptions s
      where ${waits(db)} and s.subscription_at <= ${at}::timestamptz + interval '2 days'
        and ${inReach(db, reach, db`s.organization_id`)} and ${rows.isBehind}
      ${rows.order}
    )
    select s.organization_id, organization.sandbox, s.id,
      to_char(s.subscription_at at time zone 'UTC', 'YYYY-MM-DD') as since, s.place,
      ${localDayStart(db, db`s.subscription_at`)} <= ${at} and ${isFree(db)} as is_due
    from ${withZone(db, db`page`)}
    join organizations organization on organization.id = s.organization_id
    order by s.organization_id, s.subscription_at, s.id`;
};

const earliestStart = ({ db, organizationId }: Scope) => db<{ at: Temporal.Instant | null }[]>`
  select min(${localDayStart(db, db`s.subscription_at`)}) as at from ${withZone(db)}
  where s.organization_id = ${organizationId} and ${waits(db)} and ${isFree(db)}`;
