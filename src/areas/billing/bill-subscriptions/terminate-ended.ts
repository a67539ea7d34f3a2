import type { Temporal } from 'temporal-polyfill';
import { isDateAfter } from '../../../engine/calendar/instants.ts';
import { localDate } from '../../../engine/calendar/local-day.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { inReach } from '../../../platform/db/in-reach.ts';
import { keyset, type Placed, selectedDue } from '../../../platform/db/keyset.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { type Page, periodicJob, type Reach } from '../../../platform/periodic-job.ts';
import { terminateSubscription } from '../../subscriptions/subscriptions/commands/terminate.ts';
import {
  dueSubscription,
  localDayStart,
  type PossiblyDueRow,
  SubscriptionItem,
  withZone,
} from './due-subscriptions.ts';
import { lockSubscriptionIn } from './lock-subscription.ts';

/**
 * Ends subscriptions in the first tick of the local day of `ending_at`. Rules: periodic-jobs.md#terminate-ended,
 * termination.md#ending-a-subscription.
 */
export const terminateEnded = periodicJob({
  name: 'terminate-ended',
  item: SubscriptionItem,
  select: async (sql, at, reach, page) => selectedDue(await listEnded(sql, at, reach, page), page, dueSubscription),
  async work(ctx, item, at) {
    const locked = await lockSubscriptionIn(ctx, item.subscription_id, 'active');
    const endingAt = locked?.subscription.ending_at ?? null;
    if (!locked || endingAt === null) return;
    if (isDateAfter(localDate(endingAt, locked.customer.zone), localDate(at, locked.customer.zone))) return;
    await terminateSubscription(ctx, locked.subscription);
  },
  nextDueAt: async (scope) => (await earliestEnd(scope))[0]!.at,
});

// A subscription whose successor waits for a payment ends when that is decided: the successor takes over its end.
const isSettled = (db: Db) => db`
  not exists (
    select from subscriptions successor
    where successor.organization_id = s.organization_id and successor.previous_subscription_id = s.id
      and successor.status = 'incomplete')`;

/** Active subscriptions whose last local day may have begun. */
const listEnded = (db: Db, at: Temporal.Instant, reach: Reach, page: Page) => {
  const rows = keyset(db, page, db`s.organization_id`, db`s.ending_at, s.id`);
  // The page is cut before anything is asked about its rows, so that a page costs the same however many are due.
  return db<(PossiblyDueRow & Placed)[]>`
    with page as materialized (
      select s.organization_id, s.customer_id, s.id, s.ending_at, ${rows.place}
      from subscriptions s
      where s.status = 'active' and s.ending_at is not null
        and s.ending_at <= ${at}::timestamptz + interval '2 days'
        and ${inReach(db, reach, db`s.organization_id`)} and ${rows.isBehind}
      ${rows.order}
    )
    select s.organization_id, organization.sandbox, s.id,
      to_char(s.ending_at at time zone 'UTC', 'YYYY-MM-DD') as since, s.place,
      ${localDayStart(db, db`s.ending_at`)} <= ${at} and ${isSettled(db)} as is_due
    from ${withZone(db, db`page`)}
    join organizations organization on organization.id = s.organization_id
    order by s.organization_id, s.ending_at, s.id`;
};

const earliestEnd = ({ db, organizationId }: Scope) => db<{ at: Temporal.Instant | null }[]>`
  select min(${localDayStart(db, db`s.ending_at`)}) as at from ${withZone(db)}
  where s.organization_id = ${organizationId} and s.status = 'active' and s.ending_at is not null
    and ${isSettled(db)}`;
