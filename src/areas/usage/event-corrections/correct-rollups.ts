import type { Temporal } from 'temporal-polyfill';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { ExternalSubscriptionId } from '../../../platform/ids.ts';
import { dayOf, daysOf, hourOf, rawBuckets, rawUniques } from '../../catalog/usage-shapes/raw-buckets.ts';
import { lockOrganizationEvents } from '../../catalog/usage-shapes/shape-locks.ts';
import { isRolledUp, type Shape } from '../../catalog/usage-shapes/usage-shape.ts';

/** The shape of events to be corrected, and whether the subscription is rolled up at all. */
interface ShapeOfEvents extends Shape {
  is_raw: boolean;
}

/** SQL after `from`, as rows `e` of the shape's code: the events before and after their correction. */
export interface Moved {
  before: Fragment;
  after: Fragment | null;
}

interface Bucket {
  hour: Temporal.Instant;
  /** Hex. */
  group_hash: string;
}

/**
 * Locks the organization's shapes until the transaction ends, as writers of events do, and reads those of some codes.
 * Other writers continue, unless last values or members are concerned: those are added after storing from events read
 * before, which would bring back retracted ones.
 */
export async function holdShapes(
  scope: Scope,
  externalSubscriptionId: ExternalSubscriptionId,
  codes: readonly string[],
): Promise<ShapeOfEvents[]> {
  const read = () => readShapes(scope, externalSubscriptionId, codes);
  if (areTakenAlone(await read())) await lockOrganizationEvents(scope);
  else await scope.db`select hold_shapes_version(${scope.organizationId}::uuid)`;
  const shapes = await read();
  // The metric changed between the two reads.
  if (areTakenAlone(shapes)) await lockOrganizationEvents(scope);
  return shapes;
}

/** Shapes one after the other would lock hours after days, while writers lock all hours first. */
const areTakenAlone = (shapes: readonly Shape[]): boolean =>
  shapes.some(isAddedLater) || (shapes.length > 1 && shapes.some(({ keeps_days }) => keeps_days));

const isAddedLater = ({ aggregation_type: type }: Shape): boolean =>
  type === 'latest_agg' || type === 'unique_count_agg';

const readShapes = (
  { db, organizationId }: Scope,
  externalSubscriptionId: ExternalSubscriptionId,
  codes: readonly string[],
) => db<ShapeOfEvents[]>`
  select shape.id, shape.organization_id, shape.billable_metric_id, shape.code, shape.aggregation_type,
    shape.field_name,
    shape.property_names, shape.state, shape.keeps_days, exists (
      select from usage_raw_subscriptions raw
      where raw.organization_id = shape.organization_id and raw.shape_id = shape.id
        and raw.external_subscription_id = ${externalSubscriptionId}) as is_raw
  from usage_shapes shape
  where shape.organization_id = ${organizationId} and shape.code = any (${codes})
    and shape.state in ('live', 'building')
  order by shape.id`;

/**
 * Applies a correction to the rollups around the change of the events: counts, sums and moments by their difference
 * before it; maxima, last values and members, which cannot be subtracted, from the remaining events after it. It is
 * exact beside other writers: a bucket's row stays locked from the difference on, so a writer is either seen by the
 * second read or adds to its result. Rule: event-corrections.md#order-of-work.
 *
 * moved   by code
 * change  changes the events themselves
 */
export async function carryOver(
  db: Db,
  shapes: readonly ShapeOfEvents[],
  {
    externalSubscriptionId,
    moved,
    change,
  }: {
    externalSubscriptionId: ExternalSubscriptionId;
    moved: (code: string) => Moved;
    change: () => PromiseLike<unknown>;
  },
): Promise<void> {
  const touched: { shape: Shape; buckets: readonly Bucket[] }[] = [];
  for (const shape of shapes) {
    if (!isRolledUp(shape.aggregation_type)) continue;
    if (shape.state === 'building') await markDirty(db, shape, moved(shape.code));
    else if (!shape.is_raw) touched.push({ shape, buckets: await moveBuckets(db, shape, moved(shape.code)) });
  }
  await change();
  for (const { shape, buckets } of touched)
    if (buckets.length > 0) await settleBuckets(db, shape, { externalSubscriptionId, buckets });
}

/** Moves events from their old buckets into their new ones; returns the buckets touched. */
const moveBuckets = (db: Db, shape: Shape, { before, after }: Moved) => db<Bucket[]>`
  with gone as materialized (${rawBuckets(db, shape, before)}),
  come as materialized (${after === null ? db`select * from gone limit 0` : rawBuckets(db, shape, after)}),
  new_group as (
    insert into usage_groups (organization_id, shape_id, group_hash, properties)
    select distinct organization_id, ${shape.id}::uuid, group_hash, (
      select coalesce(jsonb_object_agg(name, text), '{}')
      from unnest(${shape.property_names}::text[], texts) as property (name, text) where text is not null
    )
    from come order by 3
    on conflict do nothing
  ), difference as (
    select organization_id, external_subscription_id, hour, group_hash, sum(events_count)::bigint as events_count,
      sum(valid_count)::bigint as valid_count, sum(sum) as sum, sum(moment) as moment, max(max) as max,
      sum(amount) as amount, sum(digest) as digest, max(max_id::text collate "C")::uuid as max_id
    from (
      select organization_id, external_subscription_id, hour, group_hash, -events_count as events_count,
        -valid_count as valid_count, -sum as sum, -moment as moment, null::numeric as max, -amount as amount,
        -digest as digest, null::uuid as max_id
      from gone
      union all
      select organization_id, external_subscription_id, hour, group_hash, events_count, valid_count, sum, moment, max,
        amount, digest, max_id
      from come
    ) as moved
    group by organization_id, external_subscription_id, hour, group_hash
  )${shape.keeps_days ? movedDays(db, shape) : db``}, written as (
    insert into usage_buckets as bucket (organization_id, external_subscription_id, shape_id, hour, group_hash,
      events_count, valid_count, sum, moment, max, amount, digest, max_id)
    select organization_id, external_subscription_id, ${shape.id}::uuid, hour, group_hash, events_count, valid_count,
      sum, moment, max, amount, digest, max_id
    from difference
    order by hour, group_hash
    on conflict (organization_id, external_subscription_id, shape_id, hour, group_hash) do update set
      events_count = bucket.events_count + excluded.events_count,
      valid_count = bucket.valid_count + excluded.valid_count,
      sum = bucket.sum + excluded.sum,
      moment = bucket.moment + excluded.moment,
      max = greatest(bucket.max, excluded.max),
      amount = bucket.amount + excluded.amount,
      digest = bucket.digest + excluded.digest,
      max_id = greatest(bucket.max_id, excluded.max_id)
    returning bucket.hour, encode(bucket.group_hash, 'hex') as group_hash
  )
  select hour, group_hash from written`;

const movedDays = (db: Db, shape: Shape) => db`, days as (
    insert into usage_days as kept (organization_id, external_subscription_id, shape_id, day, group_hash, events_count,
      valid_count, sum, moment, amount, digest, max_id)
    ${daysOf(db, shape, db`difference`)}
    order by 4, 5
    on conflict (organization_id, external_subscription_id, shape_id, day, group_hash) do update set
      events_count = kept.events_count + excluded.events_count,
      valid_count = kept.valid_count + excluded.valid_count,
      sum = kept.sum + excluded.sum,
      moment = kept.moment + excluded.moment,
      amount = kept.amount + excluded.amount,
      digest = kept.digest + excluded.digest,
      max_id = greatest(kept.max_id, excluded.max_id)
  )`;

/** Drops empty buckets; recomputes maximum, last value and members of the others. */
async function settleBuckets(
  db: Db,
  shape: Shape,
  { externalSubscriptionId, buckets }: { externalSubscriptionId: ExternalSubscriptionId; buckets: readonly Bucket[] },
): Promise<void> {
  const { organization_id: organizationId, aggregation_type: type } = shape;
  const hours = buckets.map(({ hour }) => hour.toString());
  const hashes = buckets.map(({ group_hash }) => group_hash);
  const key = db`
    select hour, decode(hash, 'hex') as group_hash
    from unnest(${hours}::text[]::timestamptz[], ${hashes}::text[]) as key (hour, hash)`;
  const isOfKey = db`
    b.organization_id = ${organizationId} and b.external_subscription_id = ${externalSubscriptionId}
    and b.shape_id = ${shape.id} and b.hour = key.hour and b.group_hash = key.group_hash`;
  await db`delete from usage_buckets b using (${key}) key where ${isOfKey} and b.events_count = 0`;
  if (shape.keeps_days)
    await db`
      delete from usage_days b using (${key}) key
      where b.organization_id = ${organizationId} and b.external_subscription_id = ${externalSubscriptionId}
        and b.shape_id = ${shape.id} and b.day = ${dayOf(db, db`key.hour`)} and b.group_hash = key.group_hash
        and b.events_count = 0`;
  // The offset keeps the planner, whose statistics may be old, from joining whole tables.
  const left = db`
    (select distinct hour from (${key}) key) touched cross join lateral (
      select id, organization_id, external_subscription_id, transaction_id, timestamp, created_at, properties,
        precise_total_amount_cents
      from events
      where organization_id = ${organizationId} and external_subscription_id = ${externalSubscriptionId}
        and code = ${shape.code} and timestamp >= touched.hour and timestamp < touched.hour + interval '1 hour'
        and deleted_at is null
      offset 0
    ) e`;
  if (type === 'max_agg' || type === 'latest_agg')
    await db`
      update usage_buckets b
      set max = raw.max, last_ts = raw.last[1]::timestamptz, last_created_at = raw.last[2]::timestamptz,
        last_id = raw.last[3]::uuid, last_value = raw.last[4]::numeric
      from (${key}) key join (${rawBuckets(db, shape, left)}) raw using (hour, group_hash)
      where ${isOfKey}`;
  if (type !== 'unique_count_agg') return;
  await db`delete from usage_uniques b using (${key}) key where ${isOfKey}`;
  await db`
    insert into usage_uniques (organization_id, external_subscription_id, shape_id, hour, group_hash, value_hash,
      has_add,
      is_member, last_ts, last_created_at, last_id)
    select raw.organization_id, raw.external_subscription_id, ${shape.id}::uuid, hour, group_hash, raw.value_hash,
      raw.has_add, raw.is_member, raw.last_ts, raw.last_created_at, raw.last_id
    from (${rawUniques(db, shape, left)}) raw join (${key}) key using (hour, group_hash)`;
}

/** Records hours of a shape in building, so that they are recomputed before it goes live. */
async function markDirty(db: Db, shape: Shape, { before, after }: Moved): Promise<void> {
  const hours = (source: Fragment) => db`
    select e.organization_id, e.external_subscription_id, ${hourOf(db, db`e.timestamp`)} as hour from ${source}`;
  await db`
    insert into usage_dirty_hours as dirty (organization_id, shape_id, external_subscription_id, hour)
    select distinct organization_id, ${shape.id}::uuid, external_subscription_id, hour
    from (${hours(before)} ${after === null ? db`` : db`union all ${hours(after)}`}) as moved
    order by external_subscription_id, hour
    on conflict (organization_id, shape_id, external_subscription_id, hour) do update set marks = dirty.marks + 1`;
}
