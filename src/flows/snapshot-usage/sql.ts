import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../platform/db/connect.ts';
import type { Scope } from '../../platform/periodic-job.ts';
import { inScope } from '../bill-subscriptions/scope.ts';

/**
 * Active subscriptions to look at, by the instant from which on they are to be: those with a recurring charge when their
 * period has begun, those with an event from the local day after it on.
 */
const looks = (db: Db) => db`
  select s.organization_id, s.id, case
      when look.subscription_id is null then s.started_at
      when s.last_received_event_on >= (look.looked_at at time zone 'UTC')::date then look.next_day_at
      else look.next_look_at
    end as look_at
  from subscriptions s
  left join daily_usage_looks look on look.organization_id = s.organization_id and look.subscription_id = s.id
  where s.status = 'active' and (s.last_received_event_on is not null or exists (
    select from charges charge
    join billable_metrics metric on metric.organization_id = charge.organization_id and metric.id = charge.billable_metric_id
    where charge.organization_id = s.organization_id and charge.plan_id = s.plan_id and charge.deleted_at is null
      and metric.recurring))`;

export const listSubscriptionsToLookAt = (db: Db, at: Temporal.Instant, scope: Scope, limit: number) => db<
  { organization_id: string; sandbox: boolean; id: string; since: string }[]
>`
  select look.organization_id, organization.sandbox, look.id,
    to_char(look.look_at at time zone 'UTC', 'YYYY-MM-DD-HH24') as since
  from (${looks(db)}) look
  join organizations organization on organization.id = look.organization_id
  where look.look_at <= ${at} and ${inScope(db, scope, db`look.organization_id`)}
  order by look.look_at, look.id
  limit ${limit}`;

export async function earliestLook(db: Db, organizationId: string): Promise<Temporal.Instant | null> {
  const [row] = await db<{ at: Temporal.Instant | null }[]>`
    select min(look.look_at) as at from (${looks(db)}) look where look.organization_id = ${organizationId}`;
  return row!.at;
}

/** The UTC day on which a subscription's last event was received. */
export async function readLastReceived(
  db: Db,
  organizationId: string,
  subscriptionId: string,
): Promise<Temporal.PlainDate | null> {
  const [row] = await db<{ last_received_event_on: Temporal.PlainDate | null }[]>`
    select last_received_event_on from subscriptions where organization_id = ${organizationId} and id = ${subscriptionId}`;
  return row!.last_received_event_on;
}

/** Notes that a subscription was looked at. */
export const noteLook = (
  db: Db,
  organizationId: string,
  subscriptionId: string,
  look: { lookedAt: Temporal.Instant; nextDayAt: Temporal.Instant; nextLookAt: Temporal.Instant },
) => db`
  insert into daily_usage_looks (organization_id, subscription_id, looked_at, next_day_at, next_look_at)
  values (${organizationId}, ${subscriptionId}, ${look.lookedAt}, ${look.nextDayAt}, ${look.nextLookAt})
  on conflict (organization_id, subscription_id) do update set
    looked_at = excluded.looked_at, next_day_at = excluded.next_day_at, next_look_at = excluded.next_look_at`;
