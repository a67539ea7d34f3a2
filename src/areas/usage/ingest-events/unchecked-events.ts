import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { inReach } from '../../../platform/db/in-reach.ts';
import { keyset, type Placed } from '../../../platform/db/keyset.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { EventId, OrganizationId } from '../../../platform/ids.ts';
import type { Page, Reach } from '../../../platform/periodic-job.ts';
import { meteredNumber } from '../../catalog/usage-shapes/numeric-properties.ts';
import { isInArrival, isLive } from '../events/live-events.ts';
import { plainArray } from '../events/storage/array-literal.ts';

/** Age from which events are no longer checked (periodic-jobs.md). */
export const OLDEST_HOURS = 24;
/** How many transaction ids one list of a notification holds. */
const MOST_IDS = 10_000;
/** Ids contain the time of their creation; a request may take a while before its event is created. */
const ID_SLACK_MINUTES = 60;
/** No event has a smaller id. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

export interface UncheckedOrganization {
  organization_id: OrganizationId;
  sandbox: boolean;
  from: Temporal.Instant;
}

/**
 * Organizations with an enabled webhook endpoint and events created after the last check and before `until`, a full
 * hour. In real time ids bound the search, because they are as old as their events.
 */
export const listUnchecked = (db: Db, until: Temporal.Instant, reach: Reach, page: Page) => {
  const oldest = until.subtract({ hours: OLDEST_HOURS });
  const rows = keyset(db, page, db`organization.id`);
  return db<(UncheckedOrganization & Placed)[]>`
  select organization.id as organization_id, organization.sandbox, since.at as "from", ${rows.place}
  from organizations organization
  left join event_checks done on done.organization_id = organization.id
  cross join lateral (select greatest(done.checked_until, ${oldest}::timestamptz) as at) since
  where ${inReach(db, reach, db`organization.id`)} and since.at < ${until}
    and exists (
      select from webhook_endpoints endpoint where endpoint.organization_id = organization.id
        and endpoint.status = 'enabled')
    and exists (
      select from events e
      where e.organization_id = organization.id and ${isInArrival(db)} and e.created_at >= since.at and e.created_at < ${until}
        and e.id >= ${reach === 'real-time' ? db`${firstId(oldest)}` : firstOpenId({ db, ...reach })})
    and ${rows.isBehind}
  ${rows.order}`;
};

/** No event of the organization with a smaller id waits for the check. */
const firstOpenId = ({ db, organizationId }: Scope) => db`
  coalesce((select first_open_event_id from event_checks where organization_id = ${organizationId}),
    ${FIRST_ID}::uuid)`;

/** End of the first hour that is to be checked after `after`; null when no event waits for it. */
export async function findNextCheck(
  { db, organizationId }: Scope,
  after: Temporal.Instant,
): Promise<Temporal.Instant | null> {
  const [row] = await db<{ at: Temporal.Instant | null }[]>`
    select date_trunc('hour', min(e.created_at), 'UTC') + interval '1 hour' as at
    from events e
    where e.organization_id = ${organizationId} and ${isInArrival(db)}
      and e.id >= ${firstOpenId({ db, organizationId })}
      and e.created_at >= greatest(
        (select checked_until from event_checks where organization_id = ${organizationId}),
        ${after.subtract({ hours: OLDEST_HOURS + 1 })}::timestamptz)
      and exists (
        select from webhook_endpoints endpoint
        where endpoint.organization_id = ${organizationId} and endpoint.status = 'enabled')`;
  return row!.at;
}

/**
 * Stores that events before `until` were checked, and in a sandbox where the next check begins: with the first event of
 * a later hour, and without one with the newest. Events that come while no test clock keeps them out may commit after
 * those that are seen, so there it begins an hour of ids earlier.
 *
 * @returns the id before which no event waited for this check; undefined if it was done already
 */
export async function markChecked(
  { db, organizationId, sandbox: isSandbox }: Pick<Context, 'db' | 'organizationId' | 'sandbox'>,
  until: Temporal.Instant,
): Promise<{ first_open_event_id: EventId } | undefined> {
  const [row] = await db<{ first_open_event_id: EventId }[]>`
    with former as materialized (
      select ${firstOpenId({ db, organizationId })} as id
    ), open as (
      select (
        select e.id from events e
        where e.organization_id = ${organizationId} and ${isInArrival(db)} and e.id >= former.id
          and e.created_at >= ${until}
        order by e.id limit 1
      ) as first, (
        select e.id from events e where e.organization_id = ${organizationId} and ${isInArrival(db)}
        order by e.id desc limit 1
      ) as last, exists (select from test_clocks where organization_id = ${organizationId}) as has_clock
      from former where ${isSandbox}::boolean
    ), marked as (
      insert into event_checks (organization_id, checked_until, first_open_event_id)
      select ${organizationId}::uuid, ${until}::timestamptz,
        (select least(first, case when has_clock then last else ${firstId(until)}::uuid end) from open)
      on conflict (organization_id) do update set checked_until = excluded.checked_until,
        first_open_event_id = excluded.first_open_event_id
      where event_checks.checked_until < excluded.checked_until
      returning 1
    )
    select former.id as first_open_event_id from former, marked`;
  return row;
}

/**
 * Lets the next check begin with events that were read from their request before a test clock moved, and stored
 * afterwards: they are of the clock's new time, but their ids are smaller than where the last check left off. One
 * statement for all organizations of a batch, which touches no row in the ordinary case.
 */
export async function reopenChecks(
  db: Db,
  events: readonly { organization_id: OrganizationId; id: EventId }[],
): Promise<void> {
  const first = new Map<OrganizationId, EventId>();
  for (const { organization_id, id } of events) {
    const known = first.get(organization_id);
    if (known === undefined || id < known) first.set(organization_id, id);
  }
  if (first.size === 0) return;
  await db`
    update event_checks done set first_open_event_id = batch.id
    from unnest(${plainArray([...first.keys()])}::uuid[], ${plainArray([...first.values()])}::uuid[])
      as batch (organization_id, id)
    where done.organization_id = batch.organization_id and done.first_open_event_id > batch.id`;
}

export interface EventFaults {
  invalid_code: string[];
  missing_aggregation_property: string[];
  invalid_filter_values: string[];
}

/**
 * Transaction ids of events created in `[from, until)` with a fault, by fault. Ids bound the search: without them all
 * events of the organization were read every hour. Rule: events.md#after-storing.
 *
 * firstOpenId  in a sandbox, whose ids are of another time than its events: no event before it waits for the check
 */
export async function listFaults(
  { db, organizationId, sandbox: isSandbox }: Pick<Context, 'db' | 'organizationId' | 'sandbox'>,
  { from, until, firstOpenId }: { from: Temporal.Instant; until: Temporal.Instant; firstOpenId: EventId },
): Promise<EventFaults> {
  const [row] = await db<[EventFaults]>`
    with checked as materialized (
      select e.id, e.transaction_id, m.id is null as has_no_metric,
        m.field_name is not null and m.aggregation_type <> 'count_agg' and (
          e.properties ->> m.field_name is null
          or m.aggregation_type in ('sum_agg', 'max_agg', 'weighted_sum_agg', 'latest_agg')
            and ${meteredNumber(db, db`(e.properties ->> m.field_name)`)} is null) as lacks_property,
        exists (
          select from billable_metric_filters declared
          where declared.organization_id = m.organization_id and declared.billable_metric_id = m.id
            and e.properties ->> declared.key is not null
              and not e.properties ->> declared.key = any (declared."values")
        ) as has_other_value
      from events e
      left join billable_metrics m on m.organization_id = e.organization_id and m.code = e.code and m.deleted_at is null
      where e.organization_id = ${organizationId} and ${isInArrival(db)}
        and e.id >= ${isSandbox ? firstOpenId : firstId(from)}
        and e.created_at >= ${from} and e.created_at < ${until} and ${isLive(db, db`e`)}
    )
    select
      array(select transaction_id from checked where has_no_metric order by id limit ${MOST_IDS}) as invalid_code,
      array(select transaction_id from checked where lacks_property order by id
        limit ${MOST_IDS}) as missing_aggregation_property,
      array(select transaction_id from checked where has_other_value order by id
        limit ${MOST_IDS}) as invalid_filter_values`;
  return row;
}

/** The smallest UUID v7 of a time, with some slack. */
function firstId(instant: Temporal.Instant): string {
  const milliseconds = instant.subtract({ minutes: ID_SLACK_MINUTES }).epochMilliseconds;
  const hex = Math.max(milliseconds, 0).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
