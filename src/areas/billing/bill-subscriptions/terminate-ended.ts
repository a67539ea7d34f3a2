import type { Temporal } from 'temporal-polyfill';
import { isDateAfter } from '../../../engine/calendar/instants.ts';
import { localDate } from '../../../engine/calendar/local-day.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { inReach } from '../../../platform/db/in-reach.ts';
import { keyset, type Placed, selected } from '../../../platform/db/keyset.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { type Page, periodicJob, type Reach } from '../../../platform/periodic-job.ts';
import { terminateSubscription } from '../../subscriptions/subscriptions/commands/terminate.ts';
import { type DueRow, dueSubscription, localDayStart, SubscriptionItem, withZone } from './due-subscriptions.ts';
import { lockSubscriptionIn } from './lock-subscription.ts';

/**
 * Ends subscriptions in the first tick of the local day of `ending_at`. Rules: periodic-jobs.md#terminate-ended,
 * termination.md#ending-a-subscription.
 */
export const terminateEnded = periodicJob({
  name: 'terminate-ended',
  item: SubscriptionItem,
  select: async (sql, at, reach, page) => selected(await listEnded(sql, at, reach, page), page, dueSubscription),
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
const endable = (db: Db) => db`
  s.status = 'active' and not exists (
    select from subscriptions successor
    where successor.organization_id = s.organization_id and successor.previous_subscription_id = s.id
      and successor.status = 'incomplete')`;

/** Active subscriptions whose last local day has begun. */
const listEnded = (db: Db, at: Temporal.Instant, reach: Reach, page: Page) => {
  const rows = keyset(db, page, db`s.organization_id`, db`s.ending_at, s.id`);
  return db<(DueRow & Placed)[]>`
    select s.organization_id, organization.sandbox, s.id, to_char(s.ending_at at time zone 'UTC', 'YYYY-MM-DD') as since,
      ${rows.place}
    from ${withZone(db)}
    join organizations organization on organization.id = s.organization_id
    where ${endable(db)} and s.ending_at <= ${at}::timestamptz + interval '2 days'
      and ${localDayStart(db, db`s.ending_at`)} <= ${at} and ${inReach(db, reach, db`s.organization_id`)}
        and ${rows.isBehind}
    ${rows.order}`;
};

const earliestEnd = ({ db, organizationId }: Scope) => db<{ at: Temporal.Instant | null }[]>`
  select min(${localDayStart(db, db`s.ending_at`)}) as at from ${withZone(db)}
  where s.organization_id = ${organizationId} and ${endable(db)} and s.ending_at is not null`;
