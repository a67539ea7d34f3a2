import type { Temporal } from 'temporal-polyfill';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import { inReach } from '../../../platform/db/in-reach.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { EventId, ExternalSubscriptionId, OrganizationId } from '../../../platform/ids.ts';
import type { Reach } from '../../../platform/periodic-job.ts';
import { lateEventsPolicy } from '../../catalog/usage-policies/queries.ts';
import type { Policy } from '../../catalog/usage-policies/schema.ts';

/** Late events of one subscription and window. */
export interface LateGroup {
  external_subscription_id: ExternalSubscriptionId;
  window_from: Temporal.Instant;
  policy: Policy;
  event_ids: EventId[];
}

/**
 * What stands after `from`: live events `e` that came late for a final invoice, since their policy is not to ignore
 * them.
 */
const lateEvents = (db: Db, organizationId: Fragment, after: Fragment) => db`
  events e
  cross join lateral (
    select line.charges_from_datetime as window_from, switched.policy, switched.after_id
    from billable_metrics m
    join subscriptions s on s.organization_id = ${organizationId} and s.external_id = e.external_subscription_id
    join charges c on c.organization_id = ${organizationId} and c.billable_metric_id = m.id and c.plan_id = s.plan_id
      and not c.pay_in_advance and c.invoiceable and c.deleted_at is null
    join invoice_subscriptions line on line.organization_id = ${organizationId} and line.subscription_id = s.id
      and line.invoicing_reason in ('subscription_periodic', 'subscription_terminating') and not line.regenerated
      and line.charges_to_datetime > e.timestamp
      and (m.recurring or date_trunc('milliseconds', line.charges_from_datetime) <= e.timestamp)
    join invoices i on i.organization_id = ${organizationId} and i.id = line.invoice_id
      and i.status in ('finalized', 'closed') and not i.skip_usage
      and coalesce(i.finalized_at, i.updated_at) <= e.created_at
    cross join lateral (${lateEventsPolicy(db, organizationId, db`s.plan_id`)}) switched
    where m.organization_id = ${organizationId} and m.code = e.code and m.deleted_at is null
    order by line.charges_from_datetime
    limit 1
  ) late
  where e.organization_id = ${organizationId} and e.id > ${after} and e.deleted_at is null and late.policy <> 'ignore'
    and (late.after_id is null or e.id > late.after_id)`;

/** Organizations with a policy for late events, and how far their events were examined. */
const withPolicy = (db: Db) => db`
  organizations organization
  left join late_event_cursors seen on seen.organization_id = organization.id
  where (coalesce(organization.usage_policies ->> 'late_events', 'ignore') <> 'ignore' or exists (
    select from plans plan where plan.organization_id = organization.id
      and coalesce(plan.usage_policies ->> 'late_events', 'ignore') <> 'ignore'))`;

/**
 * Organizations whose events are to be looked at: in real time all with a policy, because looking at the events of an
 * hour for each is cheaper than asking which have late ones; else the one of the clock, while it has late events.
 */
export const listLateOrganizations = (db: Db, reach: Reach, limit: number) => db<
  { organization_id: OrganizationId; sandbox: boolean; seen_id: string | null }[]
>`
  select organization.id as organization_id, organization.sandbox, seen.seen_id
  from ${withPolicy(db)} and ${inReach(db, reach, db`organization.id`)}
    ${
      reach === 'real-time'
        ? db``
        : db`and (seen.seen_id is null or exists (
            select from ${lateEvents(db, db`organization.id`, db`seen.seen_id`)}))`
    }
  order by organization.id
  limit ${limit}`;

/**
 * How far events were looked at, locked; of an organization that is looked at for the first time, what came before its
 * first policy was switched on. Undefined: it has none any more.
 */
export async function lockCursor({ db, organizationId }: Scope): Promise<string | undefined> {
  await db`
    insert into late_event_cursors (organization_id, seen_id)
    select ${organizationId}::uuid, switched.after_id
    from (
      select coalesce(late_events_after, id) as after_id from organizations
      where id = ${organizationId} and coalesce(usage_policies ->> 'late_events', 'ignore') <> 'ignore'
      union all
      select coalesce(late_events_after, id) from plans
      where organization_id = ${organizationId} and coalesce(usage_policies ->> 'late_events', 'ignore') <> 'ignore'
    ) switched
    order by switched.after_id limit 1
    on conflict do nothing`;
  const [row] = await db<{ seen_id: string }[]>`
    select seen_id from late_event_cursors where organization_id = ${organizationId} for update`;
  return row?.seen_id;
}

export const moveCursor = ({ db, organizationId }: Scope, seenId: string) => db`
  update late_event_cursors set seen_id = greatest(seen_id, ${seenId}) where organization_id = ${organizationId}`;

/** Late events that no correction has priced, by subscription and window, in the order of the windows. */
export const listLateGroups = ({ db, organizationId }: Scope, after: string) => db<LateGroup[]>`
  select e.external_subscription_id, late.window_from, min(late.policy) as policy,
    array_agg(e.id::text order by e.id) as event_ids
  from ${lateEvents(db, db`${organizationId}::uuid`, db`${after}::uuid`)}
    and not exists (
      select from taken_late_events taken where taken.organization_id = ${organizationId} and taken.event_id = e.id)
  group by e.external_subscription_id, late.window_from
  order by late.window_from, e.external_subscription_id`;
