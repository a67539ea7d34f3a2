import type { Temporal } from 'temporal-polyfill';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { ExternalSubscriptionId, OrganizationId, UsageShapeId } from '../../../platform/ids.ts';
import { DIGEST_OF_ONE } from '../../catalog/usage-shapes/event-digest.ts';
import { dayOf, daysOf, hourOf, rawBuckets, rawUniques } from '../../catalog/usage-shapes/raw-buckets.ts';
import type { Shape } from '../../catalog/usage-shapes/usage-shape.ts';
import { isClosed } from '../event-retention/closed-time.ts';

// Namespace of the advisory locks of builds; the others are in usage-shapes/shape-locks.ts.
const BUILD_SEED = 5303;

export interface BuildingShape extends Shape {
  built_through: string | null;
}

/** One hour of one subscription. */
export interface HourKey {
  external_subscription_id: ExternalSubscriptionId;
  hour: Temporal.Instant;
}

/**
 * A shape in building, which no other transaction builds at the same time. No row is locked: a command that retires the
 * shape meanwhile holds the organization's exclusive lock and must not wait for a long page.
 */
export async function holdBuildingShape(
  { db, organizationId }: Scope,
  shapeId: UsageShapeId,
): Promise<BuildingShape | undefined> {
  await db`select pg_advisory_xact_lock(hashtextextended(${shapeId}, ${BUILD_SEED}))`;
  const [row] = await db<BuildingShape[]>`
    select id, organization_id, billable_metric_id, code, aggregation_type, field_name, property_names, state,
      keeps_days,
      built_through
    from usage_shapes
    where organization_id = ${organizationId} and id = ${shapeId} and state = 'building'`;
  return row;
}

export const listBuildingShapes = (db: Db) => db<{ id: UsageShapeId; organization_id: OrganizationId }[]>`
  select id, organization_id from usage_shapes where state = 'building' order by id`;

/** Number of live events of an organization, counted up to `most`. */
export async function countEventsUpTo({ db, organizationId }: Scope, most: number): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*) as count from (select from events
      where organization_id = ${organizationId} and deleted_at is null limit ${most}) as counted`;
  return row!.count;
}

/** External subscription ids that have live events, in order, after `after`; one index probe each. */
export const listSubscriptionsWithEvents = ({ db, organizationId }: Scope, after: string | null, limit: number) => db<
  { id: string }[]
>`
  with recursive next as (
    (select external_subscription_id as id from events
      where organization_id = ${organizationId} and deleted_at is null
        ${after === null ? db`` : db`and external_subscription_id > ${after}`}
      order by external_subscription_id limit 1)
    union all
    select (select external_subscription_id from events
      where organization_id = ${organizationId} and deleted_at is null and external_subscription_id > next.id
      order by external_subscription_id limit 1)
    from next where next.id is not null
  )
  select id from next where id is not null limit ${limit}`;

/** Stores the progress of a build. */
export const setBuiltThrough = (db: Db, shape: BuildingShape) => db`
  update usage_shapes set built_through = ${shape.built_through}
  where organization_id = ${shape.organization_id} and id = ${shape.id} and state = 'building'`;

/** Replaces a shape's buckets of whole subscriptions. */
export async function refillSubscriptions(db: Db, shape: Shape, ids: readonly ExternalSubscriptionId[]): Promise<void> {
  await db`
    with unique_rows as (
      delete from usage_uniques
      where organization_id = ${shape.organization_id} and external_subscription_id = any (${ids})
        and shape_id = ${shape.id}
    ), days as (
      delete from usage_days
      where organization_id = ${shape.organization_id} and external_subscription_id = any (${ids})
        and shape_id = ${shape.id}
    )
    delete from usage_buckets
    where organization_id = ${shape.organization_id} and external_subscription_id = any (${ids})
      and shape_id = ${shape.id}`;
  const source = db`
    events e where e.organization_id = ${shape.organization_id} and e.external_subscription_id = any (${ids})
      and e.code = ${shape.code} and e.deleted_at is null`;
  await fill(db, shape, source);
  if (shape.keeps_days) await fillDays(db, shape, db`external_subscription_id = any (${ids})`);
}

/** Lets a shape in building keep daily sums from now on, with those of its existing buckets. */
export async function keepDays(db: Db, shape: BuildingShape): Promise<void> {
  await db`
    update usage_shapes set keeps_days = true where organization_id = ${shape.organization_id} and id = ${shape.id}`;
  await fillDays(db, shape, db`true`);
  shape.keeps_days = true;
}

const fillDays = (db: Db, shape: Shape, where: Fragment) => db`
  insert into usage_days (organization_id, external_subscription_id, shape_id, day, group_hash, events_count,
    valid_count,
    sum, moment, amount, digest, max_id)
  ${daysOf(
    db,
    shape,
    db`usage_buckets where organization_id = ${shape.organization_id} and shape_id = ${shape.id} and ${where}`,
  )}`;

/** The same for single hours. Writers of a live shape must be kept out: see lockOrganizationEvents. */
export async function refillHours(db: Db, shape: Shape, keys: readonly HourKey[]): Promise<void> {
  const key = hourKeys(db, shape, keys);
  await db`
    with unique_rows as (
      delete from usage_uniques u using (${key}) key
      where u.organization_id = ${shape.organization_id} and u.external_subscription_id = key.subscription
        and u.shape_id = ${shape.id} and u.hour = key.hour
    )
    delete from usage_buckets b using (${key}) key
    where b.organization_id = ${shape.organization_id} and b.external_subscription_id = key.subscription
      and b.shape_id = ${shape.id} and b.hour = key.hour`;
  await fill(db, shape, eventsOf(db, shape, key));
  if (shape.keeps_days) await refillDays(db, shape, key);
}

async function refillDays(db: Db, shape: Shape, key: Fragment): Promise<void> {
  const days = db`(select distinct subscription, ${dayOf(db, db`hour`)} as day from (${key}) key)`;
  await db`
    delete from usage_days d using ${days} key
    where d.organization_id = ${shape.organization_id} and d.external_subscription_id = key.subscription
      and d.shape_id = ${shape.id} and d.day = key.day`;
  await fillDays(
    db,
    shape,
    db`exists (select from ${days} key where external_subscription_id = key.subscription
      and hour >= key.day and hour < key.day + interval '1 day')`,
  );
}

/**
 * Each hour once: an event would be counted once for each time that its hour is named. Those of closed times are left
 * out: their events may be removed, while their sums stay (retention.md#raw-events).
 */
const hourKeys = (db: Db, shape: Shape, keys: readonly HourKey[]) => db`
  select distinct * from unnest(${keys.map((key) => key.external_subscription_id)}::text[],
    ${keys.map((key) => key.hour.toString())}::text[]::timestamptz[])
    as key (subscription, hour)
  where not ${isClosed(db, hourOfKey(db, shape))}`;

const hourOfKey = (db: Db, shape: Shape) => ({
  organizationId: db`${shape.organization_id}::uuid`,
  subscription: db`key.subscription`,
  code: db`${shape.code}::text`,
  at: db`key.hour`,
});

/**
 * Events of single hours, each hour by one probe of the index: the offset keeps the planner, whose statistics may be
 * old, from joining whole tables.
 */
const eventsOf = (db: Db, shape: Shape, key: Fragment) => db`
  (${key}) key cross join lateral (
    select organization_id, external_subscription_id, transaction_id, timestamp, created_at, id, properties,
      precise_total_amount_cents
    from events
    where organization_id = ${shape.organization_id} and external_subscription_id = key.subscription
      and code = ${shape.code} and timestamp >= key.hour
        and timestamp < key.hour + interval '1 hour' and deleted_at is null
    offset 0
  ) e`;

async function fill(db: Db, shape: Shape, source: Fragment): Promise<void> {
  await fillBuckets(db, shape, source);
  if (shape.aggregation_type === 'unique_count_agg') await fillUniques(db, shape, source);
}

const fillBuckets = (db: Db, shape: Shape, source: Fragment) => db`
  with raw as materialized (${rawBuckets(db, shape, source)}),
  groups as (
    insert into usage_groups (organization_id, shape_id, group_hash, properties)
    select distinct organization_id, ${shape.id}::uuid, group_hash, (
      select coalesce(jsonb_object_agg(name, text), '{}')
      from unnest(${shape.property_names}::text[], texts) as property (name, text) where text is not null
    )
    from raw order by 3
    on conflict do nothing
  ), stored as (
    insert into usage_buckets (organization_id, external_subscription_id, shape_id, hour, group_hash, events_count,
      valid_count, sum, moment, max, amount, last_ts, last_created_at, last_id, last_value, digest, max_id)
    select organization_id, external_subscription_id, ${shape.id}::uuid, hour, group_hash, events_count, valid_count,
      sum, moment, max, amount, last[1]::timestamptz, last[2]::timestamptz, last[3]::uuid, last[4]::numeric,
      digest, max_id
    from raw
    returning true
  )
  select count(*) from stored`;

const fillUniques = (db: Db, shape: Shape, source: Fragment) => db`
  insert into usage_uniques (organization_id, external_subscription_id, shape_id, hour, group_hash, value_hash, has_add,
    is_member, last_ts, last_created_at, last_id)
  select organization_id, external_subscription_id, ${shape.id}::uuid, hour, group_hash, value_hash, has_add, is_member,
    last_ts, last_created_at, last_id
  from (${rawUniques(db, shape, source)}) as raw`;

/** Takes dirty hours off the list, waiting for writers that mark them; the next statement sees what those stored. */
export const takeDirtyHours = (db: Db, shape: Shape, limit: number) => db<HourKey[]>`
  delete from usage_dirty_hours
  where (organization_id, shape_id, external_subscription_id, hour) in (
    select organization_id, shape_id, external_subscription_id, hour from usage_dirty_hours
    where organization_id = ${shape.organization_id} and shape_id = ${shape.id}
    order by external_subscription_id, hour
    limit ${limit}
    for update)
  returning external_subscription_id, hour`;

/** Subscriptions of a shape with too many groups in some month for rollups (rollups.md#tables). */
export const listManyGroups = (
  db: Db,
  shape: Shape,
  { subscriptionIds, most }: { subscriptionIds: readonly ExternalSubscriptionId[]; most: number },
) => db<{ id: string }[]>`
  select distinct external_subscription_id as id from (
    select external_subscription_id from usage_buckets
    where organization_id = ${shape.organization_id} and external_subscription_id = any (${subscriptionIds})
      and shape_id = ${shape.id}
    group by external_subscription_id, date_trunc('month', hour)
    having count(distinct group_hash) > ${most}
  ) as crowded`;

/** Marks subscriptions of a shape for scans and drops their buckets. */
export const markRaw = (
  db: Db,
  shape: Shape,
  { subscriptionIds, now }: { subscriptionIds: readonly ExternalSubscriptionId[]; now: Temporal.Instant },
) => db`
  with marked as (
    insert into usage_raw_subscriptions (organization_id, shape_id, external_subscription_id, marked_at)
    select ${shape.organization_id}, ${shape.id}, id, ${now} from unnest(${subscriptionIds}::text[]) id
    on conflict do nothing
  ), uniques as (
    delete from usage_uniques
    where organization_id = ${shape.organization_id} and external_subscription_id = any (${subscriptionIds})
      and shape_id = ${shape.id}
  ), days as (
    delete from usage_days
    where organization_id = ${shape.organization_id} and external_subscription_id = any (${subscriptionIds})
      and shape_id = ${shape.id}
  )
  delete from usage_buckets
  where organization_id = ${shape.organization_id} and external_subscription_id = any (${subscriptionIds})
    and shape_id = ${shape.id}`;

/** Makes a shape the live one of its metric; false if it was retired meanwhile. Under the exclusive lock. */
export async function putLive(db: Db, shape: Shape): Promise<boolean> {
  const [row] = await db<{ state: string }[]>`
    select state from usage_shapes where organization_id = ${shape.organization_id} and id = ${shape.id} for update`;
  if (row?.state !== 'building') return false;
  await db`
    update usage_shapes set state = 'retired'
    where organization_id = ${shape.organization_id} and billable_metric_id = ${shape.billable_metric_id} and state = 'live'`;
  await db`
    update usage_shapes set state = 'live' where organization_id = ${shape.organization_id} and id = ${shape.id}`;
  return true;
}

export async function findLiveShape({ db, organizationId }: Scope, shapeId: UsageShapeId): Promise<Shape | undefined> {
  const [row] = await db<Shape[]>`
    select id, organization_id, billable_metric_id, code, aggregation_type, field_name, property_names, state,
      keeps_days
    from usage_shapes
    where organization_id = ${organizationId} and id = ${shapeId} and state = 'live'`;
  return row;
}

/**
 * For the given hours those whose rollups differ from the raw events: one statement, one snapshot. Hours from before
 * digests existed are compared without digest, and the greatest id is not compared, since it stays when its event is
 * retracted. Last values and members are not compared while an open batch has yet to add events of the hour.
 */
export const listDifferingHours = (db: Db, shape: Shape, keys: readonly HourKey[]) => {
  const key = hourKeys(db, shape, keys);
  return db<HourKey[]>`
  with raw as materialized (${rawBuckets(db, shape, eventsOf(db, shape, key))}),
  kept as materialized (
    select b.* from (${key}) key
    join usage_buckets b on b.organization_id = ${shape.organization_id} and b.external_subscription_id = key.subscription
      and b.shape_id = ${shape.id} and b.hour = key.hour
  ), waiting as materialized (
    select e.external_subscription_id, ${hourOf(db, db`e.timestamp`)} as hour
    from event_batches batch cross join unnest(batch.event_ids) as member (id)
    join events e on e.id = member.id and e.organization_id = ${shape.organization_id} and e.code = ${shape.code}
    where batch.organization_ids @> array[${shape.organization_id}::uuid]
  ), late as (
    select external_subscription_id, hour from raw full join kept using (external_subscription_id, hour, group_hash)
    where (raw.last[1]::timestamptz, raw.last[2]::timestamptz, raw.last[3]::uuid, raw.last[4]::numeric)
      is distinct from (kept.last_ts, kept.last_created_at, kept.last_id, kept.last_value)
    ${shape.aggregation_type === 'unique_count_agg' ? differingUniques(db, shape, key) : db``}
  )
  select distinct external_subscription_id, hour
  from raw full join kept using (external_subscription_id, hour, group_hash)
  where (raw.events_count, raw.valid_count, raw.sum, raw.moment, raw.max, raw.amount)
    is distinct from (kept.events_count, kept.valid_count, kept.sum, kept.moment, kept.max, kept.amount)
    or raw.digest <> kept.digest and trunc(kept.digest / ${DIGEST_OF_ONE}::numeric) = kept.events_count
  ${shape.keeps_days ? differingDays(db, shape, key) : db``}
  union
  select external_subscription_id, hour from late where (external_subscription_id, hour) not in (select *
    from waiting)`;
};

/** Days that are not the sum of their hours, each as its first hour. */
const differingDays = (db: Db, shape: Shape, key: Fragment) => db`
  union
  select external_subscription_id, day
  from (select distinct subscription, ${dayOf(db, db`hour`)} as day from (${key}) key) key
  cross join lateral (
    select external_subscription_id, group_hash, events_count, valid_count, sum, moment, amount, digest
    from usage_days d
    where d.organization_id = ${shape.organization_id} and d.external_subscription_id = key.subscription
      and d.shape_id = ${shape.id} and d.day = key.day
    except
    select external_subscription_id, group_hash, events_count, valid_count, sum, moment, amount, digest from (
      ${daysOf(
        db,
        shape,
        db`usage_buckets b where b.organization_id = ${shape.organization_id} and b.shape_id = ${shape.id}
          and b.external_subscription_id = key.subscription and b.hour >= key.day
            and b.hour < key.day + interval '1 day'`,
      )}
    ) as summed (organization_id, external_subscription_id, shape_id, day, group_hash, events_count, valid_count, sum,
      moment, amount, digest, max_id)
  ) as different`;

const differingUniques = (db: Db, shape: Shape, key: Fragment) => db`
  union all
  select external_subscription_id, hour
  from (${rawUniques(db, shape, eventsOf(db, shape, key))}) raw
  full join (
    select u.* from (${key}) key
    join usage_uniques u on u.organization_id = ${shape.organization_id} and u.external_subscription_id = key.subscription
      and u.shape_id = ${shape.id} and u.hour = key.hour
  ) kept using (external_subscription_id, hour, group_hash, value_hash)
  where (raw.has_add, raw.is_member, raw.last_id) is distinct from (kept.has_add, kept.is_member, kept.last_id)`;

/**
 * Hours of live shapes, those that have buckets and those that have events, of about 1 % of the pages of both tables or
 * of all of them, and all that wait for repair.
 */
export const listHours = (db: Db, which: 'sample' | 'all', limit: number) => {
  const pages = which === 'sample' ? db`tablesample system (1)` : db``;
  return db<(HourKey & { organization_id: OrganizationId; shape_id: UsageShapeId })[]>`
  select distinct hours.organization_id, hours.shape_id, hours.external_subscription_id, hours.hour from (
    select b.organization_id, b.shape_id, b.external_subscription_id, b.hour
    from usage_buckets b ${pages}
    union all
    select e.organization_id, s.id, e.external_subscription_id, ${hourOf(db, db`e.timestamp`)}
    from events e ${pages}
    join usage_shapes s on s.organization_id = e.organization_id and s.code = e.code and s.state = 'live'
    where e.deleted_at is null
    union all
    select d.organization_id, d.shape_id, d.external_subscription_id, d.hour from usage_dirty_hours d
  ) as hours
  join usage_shapes s on s.organization_id = hours.organization_id and s.id = hours.shape_id and s.state = 'live'
  where not exists (
    select from usage_raw_subscriptions raw
    where raw.organization_id = hours.organization_id and raw.shape_id = hours.shape_id
      and raw.external_subscription_id = hours.external_subscription_id)
  order by 1, 2, 3, 4
  limit ${limit}`;
};

/** Buckets, groups and lists of retired shapes, at most `limit` rows of buckets; true when nothing is left. */
export async function deleteRetired(db: Db, limit: number): Promise<boolean> {
  const [shape] = await db<{ organization_id: OrganizationId; id: UsageShapeId }[]>`
    select organization_id, id from usage_shapes where state = 'retired' order by id limit 1 for update skip locked`;
  if (!shape) return true;
  const deleted = await db`
    delete from usage_buckets where ctid in (
      select ctid from usage_buckets
        where organization_id = ${shape.organization_id} and shape_id = ${shape.id} limit ${limit})`;
  if (deleted.count === limit) return false;
  const uniques = await db`
    delete from usage_uniques where ctid in (
      select ctid from usage_uniques
        where organization_id = ${shape.organization_id} and shape_id = ${shape.id} limit ${limit})`;
  if (uniques.count === limit) return false;
  const days = await db`
    delete from usage_days where ctid in (
      select ctid from usage_days
        where organization_id = ${shape.organization_id} and shape_id = ${shape.id} limit ${limit})`;
  if (days.count === limit) return false;
  await db`delete from usage_groups where organization_id = ${shape.organization_id} and shape_id = ${shape.id}`;
  await db`delete from usage_dirty_hours where organization_id = ${shape.organization_id} and shape_id = ${shape.id}`;
  await db`delete from usage_raw_subscriptions
    where organization_id = ${shape.organization_id} and shape_id = ${shape.id}`;
  await db`delete from usage_shapes where organization_id = ${shape.organization_id} and id = ${shape.id}`;
  return false;
}
