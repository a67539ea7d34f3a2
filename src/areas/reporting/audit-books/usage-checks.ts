import { Temporal } from 'temporal-polyfill';
import { utcDate } from '../../../engine/calendar/instants.ts';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { type ExternalSubscriptionId, firstIdAt, type UsageShapeId } from '../../../platform/ids.ts';
import { findLiveShape, listDifferingHours } from '../../usage/build-shapes/rollup-rows.ts';
import { findFirstCountedHour, listVolumes } from '../../usage/event-volumes/queries.ts';
import { isInArrival, isLiveInOrder } from '../../usage/events/live-events.ts';
import { type Check, type Finding, MOST_FINDINGS } from './check-of-an-invariant.ts';

/** Up to this number all hours of rollups of an organization are compared; beyond it a sample. */
const MOST_HOURS_COMPARED = 10_000;
/** How many hours one statement compares. */
const HOURS_A_PAGE = 200;
/** How many events have their fees checked: the newest ones. */
const MOST_EVENTS = 10_000;
const BILLED_AFTER = { minutes: 10 } as const;

/** Invariants between events and the records made from them. Rule: auditor.md. */
export const USAGE_CHECKS: readonly Check[] = [
  {
    code: 'A15',
    mustHold: 'rolled-up usage is what its events amount to',
    resourceType: 'UsageHour',
    isSlow: true,
    find: findDifferingHours,
  },
  {
    code: 'A16',
    mustHold: 'an event under a charge paid in advance has its fee',
    resourceType: 'Event',
    isSlow: true,
    find: findUnbilledEvents,
  },
  {
    code: 'A39',
    mustHold: 'as many events are counted for the last whole day as were stored on it',
    resourceType: 'EventVolume',
    isSlow: true,
    find: findUncountedEvents,
  },
];

interface SampledHour {
  shape_id: UsageShapeId;
  external_subscription_id: ExternalSubscriptionId;
  hour: Temporal.Instant;
}

/** Hours of live shapes that differ, except those that already wait for repair. */
async function findDifferingHours({ db, organizationId }: Context): Promise<Finding[]> {
  const [size] = await db<{ hours: number }[]>`
    select count(*) as hours from (
      select from usage_buckets where organization_id = ${organizationId} limit ${MOST_HOURS_COMPARED}) counted`;
  const sample = size!.hours < MOST_HOURS_COMPARED ? db`` : db`tablesample system (1)`; // percent;
  const sampled = await db<SampledHour[]>`
    select distinct bucket.shape_id, bucket.external_subscription_id, bucket.hour
    from usage_buckets bucket ${sample}
    where bucket.organization_id = ${organizationId}
      and not exists (select from usage_raw_subscriptions raw
        where raw.organization_id = bucket.organization_id and raw.shape_id = bucket.shape_id
          and raw.external_subscription_id = bucket.external_subscription_id)
      and not exists (select from usage_dirty_hours dirty
        where dirty.organization_id = bucket.organization_id and dirty.shape_id = bucket.shape_id
          and dirty.external_subscription_id = bucket.external_subscription_id and dirty.hour = bucket.hour)
    order by 1, 2, 3
    limit ${MOST_HOURS_COMPARED}`;
  const found: Finding[] = [];
  for (const shapeId of new Set(sampled.map(({ shape_id }) => shape_id))) {
    const hours = sampled.filter(({ shape_id }) => shape_id === shapeId);
    const shape = await findLiveShape({ db, organizationId }, shapeId);
    if (shape === undefined) continue;
    for (let from = 0; from < hours.length; from += HOURS_A_PAGE)
      for (const { external_subscription_id, hour } of await listDifferingHours(
        db,
        shape,
        hours.slice(from, from + HOURS_A_PAGE),
      ))
        found.push({
          resource_id: `${shapeId}:${external_subscription_id}:${hour}`,
          expected: 'the events of the hour',
          actual: 'another rollup',
          details: { code: shape.code, external_subscription_id, hour: String(hour) },
        });
  }
  return found.slice(0, MOST_FINDINGS);
}

/**
 * Events without the fee of a charge that existed when they arrived. A unique key prevents two fees; events that were
 * unmatched, corrected, or at the very edge of a subscription are left out.
 */
function findUnbilledEvents({ db, organizationId }: Context): PromiseLike<Finding[]> {
  return db<Finding[]>`
    with recent as materialized (
      select id, external_subscription_id, transaction_id, code, timestamp from events e
      where organization_id = ${organizationId} and ${isLiveInOrder(db)} and version = 1
        and created_at < ${realNow().subtract(BILLED_AFTER)}
      order by timestamp desc
      limit ${MOST_EVENTS}
    )
    select event.id as resource_id, 'a fee' as expected, null as actual,
      jsonb_build_object('charge_id', charge.id, 'transaction_id', event.transaction_id) as details
    from recent event
    join billable_metrics metric on metric.organization_id = ${organizationId} and metric.code = event.code
      and metric.deleted_at is null
    join subscriptions subscription on subscription.organization_id = ${organizationId}
      and subscription.external_id = event.external_subscription_id and subscription.id < event.id
      and subscription.started_at < event.timestamp
      and (subscription.terminated_at is null or subscription.terminated_at > event.timestamp)
    join charges charge on charge.organization_id = ${organizationId} and charge.plan_id = subscription.plan_id
      and charge.billable_metric_id = metric.id and charge.pay_in_advance and charge.invoiceable
      and charge.deleted_at is null and charge.id < event.id
    where not exists (select from fees fee
        where fee.organization_id = ${organizationId} and fee.external_subscription_id = event.external_subscription_id
          and fee.event_transaction_id = event.transaction_id and fee.charge_id = charge.id and fee.deleted_at is null)
      and not exists (select from unmatched_events unmatched
        where unmatched.organization_id = ${organizationId} and unmatched.event_id = event.id)
    order by event.id
    limit ${MOST_FINDINGS}`;
}

/** Batches of a day have ended by then; their events are counted as they end. */
const COUNTED_AFTER = { minutes: 10 } as const;
const A_DAY = { hours: 24 } as const;

/**
 * The last whole UTC day of reception. The hour in which an organization's counting began may be counted in part, so
 * that it is left out; so is a month of which old events were removed.
 */
async function findUncountedEvents(scope: Context): Promise<Finding[]> {
  const { db, organizationId } = scope;
  const day = utcDate(realNow().subtract(COUNTED_AFTER)).subtract({ days: 1 });
  const start = day.toZonedDateTime('UTC').toInstant();
  const to = start.add(A_DAY);
  const firstHour = await findFirstCountedHour(scope);
  if (firstHour === undefined || Temporal.Instant.compare(firstHour, to) >= 0) return [];
  const from = Temporal.Instant.compare(firstHour, start) < 0 ? start : firstHour.add({ hours: 1 });
  const [kept] = await db<{ events: number; has_removed: boolean }[]>`
    select count(*) as events, exists (select from removed_events
      where organization_id = ${organizationId} and month = ${day.with({ day: 1 })}) as has_removed
    from events e
    where e.organization_id = ${organizationId} and e.id >= ${firstIdAt(from)} and e.id < ${firstIdAt(to)}
      and ${isInArrival(db)}`;
  const volumes = await listVolumes(scope, 'hour', { from, to }, undefined);
  const counted = volumes.reduce((sum, { stored }) => sum + stored, 0);
  if (kept!.has_removed || counted === kept!.events) return [];
  return [{ resource_id: String(day), expected: String(kept!.events), actual: String(counted) }];
}
