import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { pendingMigrations } from '../../../platform/db/migrate.ts';
import { firstIdAt } from '../../../platform/ids.ts';
import { type Check, type Finding, MOST_FINDINGS } from './check-of-an-invariant.ts';

const DELIVERY_LATE_AFTER = { minutes: 15 } as const;
/** The sweeper finds lost work within two minutes and nudges it again. */
const STEP_LATE_AFTER = { minutes: 5 } as const;
const EVENTS_LATE_AFTER = { minutes: 5 } as const;
const PROVIDER_EVENTS_LATE_AFTER = { hours: 2 } as const;
/** A worker that advances a clock renews its lease every few seconds. */
const ADVANCE_DEAD_AFTER = { minutes: 10 } as const;

/** Invariants of queued work and of the schema, all of real time. Rule: auditor.md. */
export const MACHINERY_CHECKS: readonly Check[] = [
  {
    code: 'A22',
    mustHold: 'the feed numbers its events one by one, without a hole, and soon',
    resourceType: 'WebhookEvent',
    find: ({ db, organizationId }) => db<Finding[]>`
      select head.organization_id as resource_id, (head.last - head.first + 1)::text as expected,
        held.count::text as actual,
        jsonb_build_object('first', head.first, 'last', head.last, 'greatest', held.greatest) as details
      from feed_heads head
      cross join lateral (
        select count(*) filter (where event.sequence <= head.last) as count, max(event.sequence) as greatest
        from webhook_events event
        where event.organization_id = head.organization_id and event.sequence >= head.first
      ) held
      where head.organization_id = ${organizationId}
        and (held.count <> head.last - head.first + 1 or held.greatest > head.last)
      union all
      (select event.id, 'a number', null, jsonb_build_object('webhook_type', event.webhook_type)
      from webhook_events event
      where event.organization_id = ${organizationId} and event.sequence is null
        and event.id < ${firstIdAt(realNow().subtract(EVENTS_LATE_AFTER))}
      order by event.position)
      limit ${MOST_FINDINGS}`,
  },
  {
    code: 'A23',
    mustHold: 'no delivery is overdue, and owed work has its job',
    resourceType: 'QueuedWork',
    find: ({ db, organizationId }) => db<Finding[]>`
      select delivery.id as resource_id, delivery.next_attempt_at::text as expected, delivery.status as actual,
        '{"queue": "webhook_deliveries"}'::jsonb as details
      from webhook_deliveries delivery
      join webhook_endpoints endpoint on endpoint.organization_id = delivery.organization_id
        and endpoint.id = delivery.webhook_endpoint_id and endpoint.status = 'enabled'
        and (endpoint.circuit_open_until is null or endpoint.circuit_open_until < ${realNow()})
      where delivery.organization_id = ${organizationId} and delivery.status in ('pending', 'retrying')
        and delivery.next_attempt_at < ${realNow().subtract(DELIVERY_LATE_AFTER)}
      union all
      select step.id, 'done', case when step.failed_at is not null then 'failed'
          when step.unknown_since is not null then 'unknown' else 'waiting' end,
        jsonb_build_object('queue', 'after_steps', 'job', step.job, 'error', step.error)
      from after_steps step
      where step.organization_id = ${organizationId}
        and (step.failed_at < ${realNow().subtract(STEP_LATE_AFTER)}
          or step.unknown_since < ${realNow().subtract(STEP_LATE_AFTER)}
          or step.due_at is null and step.enqueued_at < ${realNow().subtract(STEP_LATE_AFTER)})
        and not exists (select from test_clocks clock
          where clock.organization_id = step.organization_id and clock.status = 'advancing')
      limit ${MOST_FINDINGS}`,
  },
  {
    code: 'A24',
    mustHold: 'received events are processed within minutes, those of providers within two hours',
    resourceType: 'ReceivedEvents',
    find: ({ db, organizationId }) => db<Finding[]>`
      select id as resource_id, 'processed' as expected, created_at::text as actual,
        jsonb_build_object('events', cardinality(event_ids)) as details
      from event_batches
      where organization_ids @> array[${organizationId}::uuid] and created_at < ${realNow().subtract(EVENTS_LATE_AFTER)}
      union all
      select id, 'handled', status, jsonb_build_object('event_type', event_type, 'error', error)
      from inbound_events
      where organization_id = ${organizationId} and status in ('pending', 'processing')
        and id < ${firstIdAt(realNow().subtract(PROVIDER_EVENTS_LATE_AFTER))}
      limit ${MOST_FINDINGS}`,
  },
  {
    code: 'A28',
    mustHold: 'the schema is that of the program, and no clock advances without a worker',
    resourceType: 'Installation',
    find: findHalfInstalled,
  },
];

async function findHalfInstalled({ db, organizationId }: Context): Promise<Finding[]> {
  const pending = await pendingMigrations(db);
  const dead = await db<Finding[]>`
    select clock.organization_id as resource_id, 'a worker' as expected, lease.until::text as actual,
      jsonb_build_object('frozen_time', clock.frozen_time, 'target_time', clock.target_time) as details
    from test_clocks clock
    left join test_clock_leases lease on lease.organization_id = clock.organization_id
    where clock.organization_id = ${organizationId} and clock.status = 'advancing'
      and coalesce(lease.until < ${realNow().subtract(ADVANCE_DEAD_AFTER)}, true)`;
  return [...pending.map((name) => ({ resource_id: name, expected: 'applied', actual: 'pending' })), ...dead];
}
