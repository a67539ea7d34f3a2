import type { Db } from '../../../../platform/db/connect.ts';
import { isoText } from '../../../../platform/db/iso-text.ts';
import { patienceOf } from '../../../../platform/db/lock-patience.ts';
import type { EventBatchId, EventId, ExternalSubscriptionId, OrganizationId } from '../../../../platform/ids.ts';
import { eventHash } from '../event-key.ts';
import { plainArray } from './array-literal.ts';
import type { Columns } from './columns.ts';

/**
 * The test clocks of sandboxes, `for share` until the transaction ends; other sandboxes cannot get a clock meanwhile
 * (test-clocks.md#what-an-advance-promises).
 */
export const holdClocks = (db: Db, organizationIds: readonly OrganizationId[]) => db<
  { organization_id: OrganizationId; present: string; status: string }[]
>`
  select organization_id, status, ${isoText(db, db`frozen_time`)} as present
  from hold_clocks(${plainArray(organizationIds)}::uuid[])`;

/**
 * Stores events and adds them to their buckets, only for organizations whose catalog has the version used: their shared
 * locks are taken first, in order. It also records touched hours of shapes in building, and the batch that owes
 * asynchronous steps. One statement: all or nothing.
 *
 * batch.patienceMs  how long it waits for a lock; without one as long as its transaction does
 *
 * @returns ids of the events that were not inserted, because their key is taken or their organization's version
 *   differs; and the number of the transaction, in a row without an id
 */
export const insertEvents = (
  db: Db,
  columns: Columns,
  batch: { id: EventBatchId; now: string; patienceMs?: number | undefined },
) => {
  const { organizations, events, buckets, groups, unpriced, dirty, windows, counts } = columns;
  return db<({ id: string } | { id: null; transaction: string })[]>`
  with fresh as materialized (
    select array_agg(hold_shapes_version(used.id) = used.version) as flags
    from (${patienceOf(db, batch.patienceMs)} offset 0) as patience
    cross join unnest(${organizations.ids}::uuid[], ${organizations.versions}::bigint[]) as used (id, version)
    where patience.ms is not null -- the first lock is taken here, after it is known how long to wait
  ), input as materialized (
    select row.*, ((select flags from fresh)::boolean[])[row.o] as is_fresh
    from unnest(
      ${events.organizations}::int[], ${events.ids}::uuid[], ${events.subscriptions}::text[],
      ${events.transactions}::text[], ${events.codes}::text[], ${events.timestamps}::timestamptz[],
      ${events.created}::timestamptz[], string_to_array(${events.properties}::text, chr(31)),
      ${events.amounts}::numeric[],
      ${events.digests}::uuid[], ${events.transactionHashes}::uuid[], ${events.subscriptionHashes}::uuid[],
      ${events.agents}::text[], ${events.addresses}::text[],
      ${events.buckets}::int[], ${events.values}::numeric[], ${events.offsets}::numeric[],
      ${events.counted}::numeric[]
    ) as row (o, id, subscription, transaction, code, timestamp, created_at, properties, amount, digest,
      transaction_hash, subscription_hash, user_agent, remote_address, bucket, value, seconds, digest_in_bucket)
  ), taken as (
    insert into event_keys (organization_id, transaction_hash, subscription_hash, digest, event_timestamp, event_id)
    select (${organizations.ids}::uuid[])[o], transaction_hash, subscription_hash, digest, timestamp, id
    from input where is_fresh
    on conflict (organization_id, transaction_hash, subscription_hash) do nothing
    returning event_id
  ), inserted as (
    insert into events (id, organization_id, external_subscription_id, transaction_id, code, timestamp, properties,
      precise_total_amount_cents, digest, user_agent, remote_address, created_at)
    select id, (${organizations.ids}::uuid[])[o], subscription, transaction, code, timestamp, properties::jsonb, amount,
      uuid_send(digest), user_agent, remote_address, created_at
    from taken join input on input.id = taken.event_id
    returning id, organization_id
  ), rolled as materialized (
    select (${organizations.ids}::uuid[])[key.o] as organization_id, key.subscription, key.shape_id, key.hour, key.hash,
      key.keeps_max, key.day_offset, key.n, events_count, valid_count, sum, moment, max, amount,
      summed.digest, key.max_id
    from (
      select bucket, count(*) as events_count, count(value) as valid_count, coalesce(sum(value), 0) as sum,
        coalesce(sum(value * seconds), 0) as moment, max(value) as max,
        coalesce(sum(amount::numeric(40, 15)) filter (where value is not null), 0) as amount,
        sum(digest_in_bucket) as digest
      from input join inserted using (id)
      where bucket is not null
      group by bucket
    ) as summed
    join unnest(${buckets.organizations}::int[], ${buckets.subscriptions}::text[], ${buckets.shapes}::uuid[],
      ${buckets.hours}::timestamptz[], ${buckets.hashes}::bytea[], ${buckets.keepMax}::boolean[],
      ${buckets.dayOffsets}::int[], ${buckets.maxIds}::uuid[])
      with ordinality as key (o, subscription, shape_id, hour, hash, keeps_max, day_offset, max_id, n)
        on key.n = summed.bucket
  ), made_window as ( -- stands before the hours as days do: buckets are locked before windows of budgets
    insert into budget_windows (id, organization_id, budget_id, group_key, group_values, starts_at, ends_at, created_at)
    select made.id, (${organizations.ids}::uuid[])[made.o], made.budget_id, made.group_key, made.group_values,
      made.starts_at, made.ends_at, ${batch.now}::timestamptz
    from unnest(${windows.ids}::uuid[], ${windows.organizations}::int[], ${windows.budgets}::uuid[],
      ${windows.groupKeys}::bytea[], ${windows.groups}::jsonb[], ${windows.starts}::timestamptz[],
      ${windows.ends}::timestamptz[], ${windows.mayBeMade}::boolean[])
      as made (id, o, budget_id, group_key, group_values, starts_at, ends_at, may_be_made)
    where made.may_be_made and ((select flags from fresh)::boolean[])[made.o]
      and not exists (select from budget_windows known where known.id = made.id)
    order by made.id
    on conflict do nothing
  ), entry as (
    insert into budget_entries (id, organization_id, window_id, amount, events, source, ref, created_at)
    select used.entry_id, (${organizations.ids}::uuid[])[used.o], used.id, counted.amount, counted.events, 'usage',
      ${batch.id}::text, counted.created_at
    from (
      select counted.place, sum(counted.amount) as amount, count(*)::int as events, max(input.created_at) as created_at
      from unnest(${counts.ids}::uuid[], ${counts.windows}::int[], ${counts.amounts}::numeric[])
        as counted (id, place, amount)
      join inserted on inserted.id = counted.id
      join input on input.id = counted.id
      group by counted.place
    ) as counted
    join unnest(${windows.ids}::uuid[], ${windows.organizations}::int[], ${windows.mayBeMade}::boolean[],
      ${windows.entries}::uuid[]) with ordinality as used (id, o, may_be_made, entry_id, place)
      on used.place = counted.place
    where used.may_be_made or exists (select from budget_windows known where known.id = used.id)
  ), day as ( -- stands before the hours, since what nothing reads is run last one first: hours are locked before days
    insert into usage_days as day (organization_id, external_subscription_id, shape_id, day, group_hash, events_count,
      valid_count, sum, moment, amount, digest, max_id)
    select organization_id, subscription, shape_id, date_bin('1 day', hour, timestamptz 'epoch') as day, hash,
      sum(events_count), sum(valid_count), sum(sum), sum(moment + sum * day_offset), sum(amount),
      sum(digest), max(max_id::text collate "C")::uuid
    from rolled where day_offset is not null
    group by organization_id, subscription, shape_id, day, hash
    order by organization_id, subscription collate "C", shape_id, day, hash
    on conflict (organization_id, external_subscription_id, shape_id, day, group_hash) do update set
      events_count = day.events_count + excluded.events_count,
      valid_count = day.valid_count + excluded.valid_count,
      sum = day.sum + excluded.sum,
      moment = day.moment + excluded.moment,
      amount = day.amount + excluded.amount,
      digest = day.digest + excluded.digest,
      max_id = greatest(day.max_id, excluded.max_id)
  ), bucket as (
    insert into usage_buckets as bucket (organization_id, external_subscription_id, shape_id, hour, group_hash,
      events_count, valid_count, sum, moment, max, amount, digest, max_id)
    select organization_id, subscription, shape_id, hour, hash, events_count, valid_count, sum, moment,
      case when keeps_max then max end, amount, digest, max_id
    from rolled
    order by n
    on conflict (organization_id, external_subscription_id, shape_id, hour, group_hash) do update set
      events_count = bucket.events_count + excluded.events_count,
      valid_count = bucket.valid_count + excluded.valid_count,
      sum = bucket.sum + excluded.sum,
      moment = bucket.moment + excluded.moment,
      max = greatest(bucket.max, excluded.max),
      amount = bucket.amount + excluded.amount,
      digest = bucket.digest + excluded.digest,
      max_id = greatest(bucket.max_id, excluded.max_id)
  ), new_group as (
    insert into usage_groups (organization_id, shape_id, group_hash, properties)
    select * from unnest(${groups.organizations}::uuid[], ${groups.shapes}::uuid[], ${groups.hashes}::bytea[],
      ${groups.properties}::jsonb[])
    on conflict do nothing
  ), dirty as (
    insert into usage_dirty_hours as hour (organization_id, shape_id, external_subscription_id, hour)
    select (${organizations.ids}::uuid[])[row.o], shape_id, subscription, row.hour
    from unnest(${dirty.organizations}::int[], ${dirty.shapes}::uuid[], ${dirty.subscriptions}::text[],
      ${dirty.hours}::timestamptz[]) as row (o, shape_id, subscription, hour)
    where ((select flags from fresh)::boolean[])[row.o]
    on conflict (organization_id, shape_id, external_subscription_id, hour) do update set marks = hour.marks + 1
  ), unpriced as (
    insert into ai_unpriced (organization_id, event_id, external_subscription_id, provider, model, tier, reason,
      missing_kinds, tokens, event_timestamp, book)
    select (${organizations.ids}::uuid[])[input.o], input.id, input.subscription, call.provider, call.model, call.tier,
      call.reason, string_to_array(call.kinds, ','), call.tokens, input.timestamp, call.book
    from unnest(${unpriced.ids}::uuid[], ${unpriced.providers}::text[], ${unpriced.models}::text[],
      ${unpriced.tiers}::text[], ${unpriced.reasons}::text[], ${unpriced.kinds}::text[], ${unpriced.tokens}::numeric[],
      ${unpriced.books}::text[])
      as call (id, provider, model, tier, reason, kinds, tokens, book)
    join inserted using (id) join input using (id)
  ), batch as (
    insert into event_batches (id, organization_ids, event_ids, created_at, enqueued_at)
    select ${batch.id}::uuid, array_agg(distinct organization_id), array_agg(id), ${batch.now}::timestamptz,
      ${batch.now}::timestamptz
    from inserted having count(*) > 0
  )
  select id, null as transaction from input where id not in (select id from inserted)
  union all
  select null, pg_current_xact_id()::text`;
};

/** What is known of the event that has the key of one that was not inserted. */
export interface KeptKey {
  n: number;
  id: EventId;
  /** Same code, properties, amount, and timestamp where one was sent. */
  is_same: boolean;
  /** As first received, in ISO text. */
  event_timestamp: string;
  /** Null when the event itself is gone. */
  event: StoredEvent | null;
}

export interface StoredEvent {
  id: EventId;
  transaction_id: string;
  external_subscription_id: ExternalSubscriptionId;
  code: string;
  timestamp: string;
  properties: string;
  precise_total_amount_cents: string | null;
  created_at: string;
}

/**
 * The kept keys of some events, and the stored events as they were first received: version 1 of corrected ones
 * (event-corrections.md#order-of-work).
 */
export async function findKept(
  tx: Db,
  keys: readonly {
    organization_id: OrganizationId;
    transaction_id: string;
    external_subscription_id: ExternalSubscriptionId;
    digest: string;
    timestamp: string | null;
  }[],
): Promise<KeptKey[]> {
  const rows = await tx<(Omit<KeptKey, 'event'> & Omit<StoredEvent, 'code'> & { code: string | null })[]>`
  select sent.n::int as n, key.event_id as id, e.transaction_id, e.external_subscription_id,
    key.digest = sent.digest and (sent.timestamp is null or key.event_timestamp = sent.timestamp) as is_same,
    ${isoText(tx, tx`key.event_timestamp`)} as event_timestamp,
    coalesce(first.code, e.code) as code,
    ${isoText(tx, tx`coalesce(first.timestamp, e.timestamp)`)} as timestamp,
    coalesce(first.properties, e.properties)::text as properties,
    trim_scale(case when first.event_id is null then e.precise_total_amount_cents
      else first.precise_total_amount_cents end)::text
      as precise_total_amount_cents,
    ${isoText(tx, tx`e.created_at`)} as created_at
  from unnest(${plainArray(keys.map((key) => key.organization_id))}::uuid[],
    ${plainArray(keys.map((key) => eventHash(key.transaction_id)))}::uuid[],
    ${plainArray(keys.map((key) => eventHash(key.external_subscription_id)))}::uuid[],
    ${plainArray(keys.map((key) => key.digest))}::uuid[],
    ${plainArray(keys.map((key) => key.timestamp))}::timestamptz[])
    with ordinality sent (organization_id, transaction_hash, subscription_hash, digest, timestamp, n)
  cross join lateral (
    select * from event_keys
    where organization_id = sent.organization_id and transaction_hash = sent.transaction_hash
      and subscription_hash = sent.subscription_hash
    limit 1 -- the unique index, whatever is known of the table: a join was planned as a scan of it
  ) key
  left join lateral (
    select * from events where id = key.event_id and organization_id = sent.organization_id limit 1) e on true
  left join lateral (
    select * from event_versions where event_id = e.id and e.version > 1 and version = 1 limit 1) first on true`;
  return rows.map(({ n, is_same, event_timestamp, code, ...event }) => ({
    n,
    id: event.id,
    is_same,
    event_timestamp,
    event: code === null ? null : { ...event, code },
  }));
}
