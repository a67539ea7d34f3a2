import type { Temporal } from 'temporal-polyfill';
import type { Fragment } from '../../../platform/db/connect.ts';
import { isoText } from '../../../platform/db/iso-text.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { ApiKeyId, EventId, ExternalSubscriptionId } from '../../../platform/ids.ts';
import type { Policy } from '../../catalog/usage-policies/schema.ts';
import type { EventToCorrect } from '../event-corrections/lock-events.ts';
import { isClosed } from '../event-retention/closed-time.ts';
import { isLive } from '../events/live-events.ts';
import type { RerateResult } from './schema.ts';

/** Kind of these runs. */
export const RERATING = 'rerate';

/** What a run was asked for. */
export interface ReratingInput {
  /** `[from, to)` of the events' timestamps, ISO texts. */
  from: string;
  to: string;
  /** As billed; null: all. */
  provider: string | null;
  model: string | null;
  external_subscription_id: ExternalSubscriptionId | null;
  dry_run: boolean;
  /** Null: that of each subscription. */
  policy: Policy | null;
  reason: string;
  api_key_id: ApiKeyId | null;
}

/**
 * SQL after `from`: the live rated calls `e` that a run concerns. In which subscriptions and codes they are is known
 * from the sums by day, and of batches that nobody has summed yet from these.
 */
export const callsToRate = ({ db, organizationId }: Scope, input: ReratingInput): Fragment => {
  const { from, to, provider, model, external_subscription_id: subscription } = input;
  const within = (day: Fragment) => db`
    ${day} between (${from}::timestamptz at time zone 'UTC')::date and (${to}::timestamptz at time zone 'UTC')::date`;
  const isOf = (column: Fragment) => (subscription === null ? db`` : db`and ${column} = ${subscription}`);
  return db`(
    select e.id, e.external_subscription_id
    from (
      select distinct place.external_subscription_id, known.code
      from (
        select external_subscription_id, group_hash from ai_usage_days summed
        where organization_id = ${organizationId} and ${within(db`day`)} ${isOf(db`external_subscription_id`)}
        union
        select hours.external_subscription_id, group_hash
        from ai_changed_days changed
        join ai_usage_hours hours on hours.organization_id = ${organizationId}
          and hours.external_subscription_id = changed.external_subscription_id
          and hours.hour >= changed.day::timestamp at time zone 'UTC'
          and hours.hour < (changed.day + 1)::timestamp at time zone 'UTC'
        where changed.organization_id = ${organizationId} and ${within(db`changed.day`)}
          ${isOf(db`changed.external_subscription_id`)}
      ) place
      join ai_groups g on g.organization_id = ${organizationId} and g.group_hash = place.group_hash
      -- of what is left over on a crowded day nobody knows the code
      join ai_groups known on known.organization_id = ${organizationId} and known.code <> ''
        and (known.group_hash = g.group_hash or g.code = '')
      union
      select e.external_subscription_id, e.code
      from event_batches batch
      cross join unnest(batch.event_ids) as member (id)
      join events e on e.id = member.id and e.organization_id = ${organizationId} and e.properties ? 'ai_status'
      where batch.organization_ids @> array[${organizationId}::uuid] ${isOf(db`e.external_subscription_id`)}
    ) place
    join events e on e.organization_id = ${organizationId} and e.code = place.code
      and e.external_subscription_id = place.external_subscription_id and e.timestamp >= ${from}::timestamptz
      and e.timestamp < ${to}::timestamptz and e.deleted_at is null and e.properties ? 'ai_status'
      ${provider === null ? db`` : db`and e.properties ->> 'provider' = ${provider}`}
      ${model === null ? db`` : db`and e.properties ->> 'model' = ${model}`}
  ) e`;
};

export interface ReratingRun {
  id: string;
  input: ReratingInput;
  done: number;
  total: number | null;
  result: RerateResult | null;
}

/**
 * The oldest run that is not over, locked: one is under way at a time. All of them are locked, so that after a wait for
 * one that ended meanwhile the next one is found.
 */
export async function lockFirstRun({ db, organizationId }: Scope): Promise<ReratingRun | undefined> {
  const [first] = await db<{ id: string }[]>`
    select id from runs
    where organization_id = ${organizationId} and kind = ${RERATING} and finished_at is null
    order by created_at, id
    for update`;
  if (!first) return undefined;
  const [run] = await db<ReratingRun[]>`
    select id, input, done, total, result from runs where organization_id = ${organizationId} and id = ${first.id}`;
  return run;
}

/** Lists the calls of a run. @returns how many there are */
export async function listCalls(scope: Scope, { id, input }: ReratingRun): Promise<number> {
  const { count } = await scope.db`
    insert into price_rerating_events (organization_id, run_id, external_subscription_id, event_id)
    select ${scope.organizationId}::uuid, ${id}::uuid, e.external_subscription_id, e.id from ${callsToRate(scope, input)}`;
  return count;
}

/** Whose calls are next; undefined: none are left. */
export async function findNextSubscription(
  { db, organizationId }: Scope,
  runId: string,
): Promise<ExternalSubscriptionId | undefined> {
  const [row] = await db<{ external_subscription_id: ExternalSubscriptionId }[]>`
    select external_subscription_id from price_rerating_events
    where organization_id = ${organizationId} and run_id = ${runId}
    order by external_subscription_id limit 1`;
  return row?.external_subscription_id;
}

/** A call that may be rated again. */
export interface CallToRate extends EventToCorrect {
  /** Whether a correction brought its amount. */
  is_by_hand: boolean;
}

/** Takes at most `limit` calls of a subscription off the list, and locks their events that may be corrected. */
export async function takeCalls(
  { db, organizationId }: Scope,
  { runId, subscription, limit }: { runId: string; subscription: ExternalSubscriptionId; limit: number },
): Promise<{ taken: number; calls: CallToRate[] }> {
  const taken = await db<{ event_id: EventId }[]>`
    delete from price_rerating_events
    where organization_id = ${organizationId} and run_id = ${runId} and external_subscription_id = ${subscription}
      and event_id in (
        select event_id from price_rerating_events
        where organization_id = ${organizationId} and run_id = ${runId} and external_subscription_id = ${subscription}
        order by event_id limit ${limit})
    returning event_id`;
  const calls = await db<CallToRate[]>`
    select e.id, e.code, ${isoText(db, db`e.timestamp`)} as timestamp, e.properties::text as properties,
      trim_scale(e.precise_total_amount_cents)::text as precise_total_amount_cents,
      exists (
        select from event_versions former
        join event_corrections correction on correction.organization_id = former.organization_id
          and correction.id = former.correction_id and correction.kind = 'amend'
        where former.organization_id = ${organizationId} and former.event_id = e.id
          and correction.input ? 'precise_total_amount_cents') as is_by_hand
    from events e
    where e.id = any (${taken.map(({ event_id: id }) => id)}::uuid[]) and e.organization_id = ${organizationId}
      and ${isLive(db, db`e`)} and not ${isClosed(db, {
        organizationId: db`e.organization_id`,
        subscription: db`e.external_subscription_id`,
        code: db`e.code`,
        at: db`e.timestamp`,
      })}
    order by e.id
    for update`;
  return { taken: taken.length, calls: [...calls] };
}

/** What is known of a run after a page; with an error it has failed. */
export interface RerateProgress {
  done: number;
  total: number;
  result: RerateResult;
  isOver: boolean;
  error: object | null;
}

/** Stores the progress of a run, and drops the rest of its list when it is over. */
export async function moveRun(
  { db, organizationId }: Scope,
  runId: string,
  { progress: { done, total, result, isOver, error }, now }: { progress: RerateProgress; now: Temporal.Instant },
): Promise<void> {
  await db`
    update runs
    set done = ${done}, total = ${total}, result = ${json(result)}, error = ${json(error)},
      status = ${error ? 'failed' : isOver ? 'succeeded' : 'running'},
      started_at = coalesce(started_at, ${now}), finished_at = ${isOver ? now : null}
    where organization_id = ${organizationId} and id = ${runId}`;
  if (isOver)
    await db`
    delete from price_rerating_events where organization_id = ${organizationId} and run_id = ${runId}`;
}
