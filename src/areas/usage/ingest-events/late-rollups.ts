import type { AggregationType } from '../../../engine/metrics/aggregation-types.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { EventId } from '../../../platform/ids.ts';
import { meteredNumber } from '../../catalog/usage-shapes/numeric-properties.ts';
import { hourOf, lastOf, operationOf } from '../../catalog/usage-shapes/raw-buckets.ts';
import { holdOrganizationEvents } from '../../catalog/usage-shapes/shape-locks.ts';
import { plainArray, textArray } from '../events/storage/array-literal.ts';
import type { EventToMatch } from '../match-events/match-event.ts';

/** Kinds of metrics whose shapes the storing statement does not complete. */
const ADDED_LATE: readonly AggregationType[] = ['latest_agg', 'unique_count_agg'];

/** An organization and the code of its events. */
type OwnCode = Pick<EventToMatch, 'organization_id' | 'code'>;

/**
 * The events whose code has a live shape with parts that the storing statement leaves out. A shape answers for its
 * events as long as it is live, also while its metric has another field or kind already, so the metric does not say.
 * One statement.
 */
export async function listAddedLate<Event extends OwnCode>(tx: Db, events: readonly Event[]): Promise<Event[]> {
  if (events.length === 0) return [];
  const late = new Set((await listLateCodes(tx, events)).map(keyOf));
  return events.filter((event) => late.has(keyOf(event)));
}

const keyOf = ({ organization_id, code }: OwnCode): string => `${organization_id} ${code}`;

/** Also codes that only another organization of the events has. */
const listLateCodes = (db: Db, events: readonly OwnCode[]) => db<OwnCode[]>`
  select organization_id, code from usage_shapes
  where organization_id = any (${plainArray([...new Set(events.map((event) => event.organization_id))])}::uuid[])
    and code = any (${textArray([...new Set(events.map(({ code }) => code))])}::text[])
    and state = 'live' and aggregation_type = any (${plainArray(ADDED_LATE)}::text[])`;

/**
 * Adds events of open batches to the parts of rollups that the storing statement leaves out: last values and members of
 * unique counts. Both are the same in any order and however often events are added, so a batch may be finished twice,
 * also after a rebuild that contains its events. Until then reads take the events of open batches from the events
 * themselves. Two statements in one round trip; none without events.
 *
 * events  those of `listAddedLate`: others of the batch are not read
 *
 * Rules: rollups.md#buckets, rollups.md#exactness.
 */
export async function addLateRollups(tx: Db, events: readonly EventToMatch[]): Promise<void> {
  if (events.length === 0) return;
  await Promise.all([
    // Sent without waiting. A repair or a switch of shapes is over when it is answered, and the next statement sees it.
    holdOrganizationEvents(tx, [...new Set(events.map(({ organization_id }) => organization_id))]),
    addLastAndUniques(
      tx,
      events.map(({ id }) => id),
    ),
  ]);
}

const addLastAndUniques = (db: Db, ids: readonly EventId[]) => db`
  with event as materialized (
    select e.organization_id, e.external_subscription_id, e.timestamp, e.created_at, e.id, shape.id as shape_id,
      shape.aggregation_type, ${hourOf(db, db`e.timestamp`)} as hour, e.properties ->> shape.field_name as text,
      ${operationOf(db, db`e`)} as operation,
      substring(sha256(convert_to(array_to_json(array(
        select e.properties ->> named.name
        from unnest(shape.property_names) with ordinality as named (name, position)
        order by named.position
      ))::text, 'UTF8')) for 16) as group_hash
    from unnest(${plainArray(ids)}::uuid[]) as member (id)
    join events e on e.id = member.id and e.deleted_at is null
    join usage_shapes shape on shape.organization_id = e.organization_id and shape.code = e.code
      and shape.state = 'live'
      and shape.aggregation_type = any (${plainArray(ADDED_LATE)}::text[])
    where e.properties ->> shape.field_name is not null
      and not exists (
        select from usage_raw_subscriptions raw
        where raw.organization_id = e.organization_id and raw.shape_id = shape.id
          and raw.external_subscription_id = e.external_subscription_id)
  ), newest as (
    select organization_id, external_subscription_id, shape_id, hour, group_hash,
      ${lastOf(db, db`value::text`, db`true`)} as last
    from (select event.*, ${meteredNumber(db, db`text`)} as value from event
      where aggregation_type = 'latest_agg') as metered
    where value is not null
    group by organization_id, external_subscription_id, shape_id, hour, group_hash
  ), latest as (
    insert into usage_buckets as bucket (organization_id, external_subscription_id, shape_id, hour, group_hash,
      events_count,
      valid_count, last_ts, last_created_at, last_id, last_value)
    select organization_id, external_subscription_id, shape_id, hour, group_hash, 0, 0, last[1]::timestamptz,
      last[2]::timestamptz, last[3]::uuid, last[4]::numeric
    from newest
    -- the order of the storing statement
    order by shape_id, hour, group_hash, external_subscription_id collate "C"
    on conflict (organization_id, external_subscription_id, shape_id, hour, group_hash) do update set
      last_ts = excluded.last_ts, last_created_at = excluded.last_created_at, last_id = excluded.last_id,
      last_value = excluded.last_value
    where bucket.last_ts is null or (bucket.last_ts, bucket.last_created_at, bucket.last_id)
      < (excluded.last_ts, excluded.last_created_at, excluded.last_id)
  ), member as (
    select organization_id, external_subscription_id, shape_id, hour, group_hash,
      substring(sha256(convert_to(text, 'UTF8')) for 16) as value_hash, bool_or(operation = 'add') as has_add,
      ${lastOf(db, db`operation`, db`true`)} as last
    from event where aggregation_type = 'unique_count_agg'
    group by organization_id, external_subscription_id, shape_id, hour, group_hash, text
  ), written as (
    insert into usage_uniques as stored (organization_id, external_subscription_id, shape_id, hour, group_hash,
      value_hash,
      has_add, is_member, last_ts, last_created_at, last_id)
    select organization_id, external_subscription_id, shape_id, hour, group_hash, value_hash, has_add, last[4] = 'add',
      last[1]::timestamptz, last[2]::timestamptz, last[3]::uuid
    from member
    order by shape_id, hour, group_hash, external_subscription_id collate "C", value_hash
    on conflict (organization_id, external_subscription_id, shape_id, hour, group_hash, value_hash) do update set
      has_add = stored.has_add or excluded.has_add,
      is_member = case when (stored.last_ts, stored.last_created_at, stored.last_id)
        < (excluded.last_ts, excluded.last_created_at, excluded.last_id) then excluded.is_member
          else stored.is_member end,
      (last_ts, last_created_at, last_id) = (
        select row.at, row.created, row.id from (values
          (stored.last_ts, stored.last_created_at, stored.last_id),
          (excluded.last_ts, excluded.last_created_at, excluded.last_id)) as row (at, created, id)
        order by row.at desc, row.created desc, row.id desc limit 1)
    returning true
  )
  select count(*) from written`;
