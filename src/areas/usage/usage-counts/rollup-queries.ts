import type { Temporal } from 'temporal-polyfill';
import type { Texts } from '../../../engine/metrics/choose-filter.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { MetricId } from '../../../platform/ids.ts';
import { meteredNumber } from '../../catalog/usage-shapes/numeric-properties.ts';
import { operationOf, sortableText } from '../../catalog/usage-shapes/raw-buckets.ts';
import { isLive } from '../events/live-events.ts';
import type { SharedRequest } from './share-requests.ts';

/** Aggregates of the events of one combination of property texts. */
export interface Counted {
  events_count: number;
  valid_count: number;
  sum: Decimal;
  /** Sum of value × seconds since 1970, of weighted sums. */
  moment: Decimal;
  max: Decimal | null;
  /** Sum of `precise_total_amount_cents` of the numeric events, absent ones 0. */
  amount: Decimal;
  /** The last numeric event, of latest values. */
  last: [timestamp: string, createdAt: string, id: string, value: string] | null;
}

export interface RollupRequest {
  subscription: string;
  metric_id: MetricId;
  code: string;
  aggregation: string;
  field: string | null;
  /** Full hours, `[from, to)`. */
  from: string;
  to: string;
  /** Full UTC days within them, `[day_from, day_to)`, that may be read as whole days; null: hours are needed. */
  day_from: string | null;
  day_to: string | null;
  /** Starts of local days, each a full hour, that are kept separate; null: none. */
  days: string[] | null;
  /** Whether the events' own amounts are needed. */
  amounts: boolean;
  /** The rest of the window, which is read from events: their values are listed; null: all values are. */
  edges: { from: string; to: string }[] | null;
}

/** Hours of the charges at the positions `ns` that a rollup answers; without a count if they are empty. */
export type RollupRow =
  | (Counted & { ns: number[]; texts: Texts | null; hour: Temporal.Instant | null })
  | { ns: number[]; events_count: null };

/**
 * Sums of buckets, only for charges whose metric's live shape has all needed properties, with no repair pending and not
 * too many groups. Shapes, buckets and open batches, whose last values the buckets lack, are read in one snapshot.
 * Buckets that several charges need are read once; if the shape keeps days, full days are read as one row.
 */
export const sumBuckets = ({ db, organizationId }: Scope, requests: readonly SharedRequest<RollupRequest>[]) => db<
  RollupRow[]
>`
  with ${answeringShapes({ db, organizationId }, requests)}, ${waitingEvents({ db, organizationId }, 'latest_agg')}
  select scan.ns, grp.properties as texts, summed.events_count, summed.valid_count, summed.sum, summed.moment,
    summed.max,
    summed.amount, summed.last, summed.hour
  from scan
  left join lateral (
    select group_hash, min(hour) as hour, sum(events_count)::bigint as events_count,
      sum(valid_count)::bigint as valid_count, sum(sum) as sum, max(max) as max, sum(amount) as amount,
      coalesce(sum(moment + sum * extract(epoch from hour)) filter (where scan.aggregation = 'weighted_sum_agg'), 0)
        as moment,
      max(array[${sortableText(db, db`last_ts`)}, ${sortableText(db, db`last_created_at`)}, last_id::text,
      last_value::text]
        collate "C") filter (where last_ts is not null) as last
    from (
      ${bucketsBetween({ db, organizationId }, db`scan."from"`, db`scan.day_from`)}
      union all
      ${bucketsBetween({ db, organizationId }, db`scan.day_to`, db`scan."to"`)}
      union all
      select day, group_hash, events_count, valid_count, sum, moment, null, amount, null, null, null, null
      from usage_days d
      where d.organization_id = ${organizationId} and d.external_subscription_id = scan.subscription
        and d.shape_id = scan.shape_id and d.day >= scan.day_from and d.day < scan.day_to
    ) as part
    group by group_hash, width_bucket(hour, scan.days)
  ) summed on true
  left join usage_groups grp on grp.organization_id = ${organizationId} and grp.shape_id = scan.shape_id
    and grp.group_hash = summed.group_hash
  union all
  select array[n], texts, 0, 0, 0, 0, null, 0,
    array[${sortableText(db, db`timestamp`)}, ${sortableText(db, db`created_at`)}, id::text, value::text], null
  from (
    select waiting.*, ${meteredNumber(db, db`waiting.text`)} as value from waiting
  ) as metered
  where value is not null`;

/**
 * Hash of a value, whether the hour added it, whether it was there at the end, and of its last event the order and the
 * time.
 */
export type MemberEntry = [value: string, hasAdd: boolean, isMember: boolean, key: string, hour: string, at: string];

export interface MemberRow {
  ns: number[];
  texts: Texts | null;
  /** Number of values of the group in use that are not listed; null: the rollup answers and there are none. */
  settled: number | null;
  members: MemberEntry[] | null;
}

/**
 * Members of unique counts, for the charges that `sumBuckets` can answer. If days do not matter the last hour in the
 * window decides about a value, and a value that no other group, edge of the window or open batch has is only counted,
 * unless all are wanted: listing and comparing 24 000 values took 0.9 s. Other values are listed with their last hour
 * in each group; if days matter all are listed with all hours; and so is every event of open batches, which the rows
 * lack.
 */
export const listMembers = ({ db, organizationId }: Scope, requests: readonly SharedRequest<RollupRequest>[]) => db<
  MemberRow[]
>`
  with ${answeringShapes({ db, organizationId }, requests)},
  ${waitingEvents({ db, organizationId }, 'unique_count_agg')},
  ${valuesElsewhere({ db, organizationId })}
  select scan.ns, grp.properties as texts, listed.settled, listed.members
  from scan
  left join lateral (
    select group_hash, count(*) filter (where not is_listed and is_member) as settled,
      coalesce(jsonb_agg(${memberEntry(db)}) filter (where is_listed), '[]') as members
    from (
      select last.*, scan.edges is null or elsewhere.value_hash is not null
          or count(*) over (partition by last.value_hash) > 1 as is_listed
      from (
        select distinct on (value_hash, group_hash) group_hash, value_hash, has_add, is_member, last_ts,
          last_created_at,
          last_id, hour
        from usage_uniques u
        where scan.days is null and u.organization_id = ${organizationId}
          and u.external_subscription_id = scan.subscription and u.shape_id = scan.shape_id
          and u.hour >= scan."from" and u.hour < scan."to"
        order by value_hash, group_hash, hour desc
      ) last
      left join also_elsewhere elsewhere on elsewhere.s = scan.s and elsewhere.value_hash = last.value_hash
      union all
      select group_hash, value_hash, has_add, is_member, last_ts, last_created_at, last_id, hour, true
      from usage_uniques u
      where scan.days is not null and u.organization_id = ${organizationId}
        and u.external_subscription_id = scan.subscription and u.shape_id = scan.shape_id
        and u.hour >= scan."from" and u.hour < scan."to"
    ) as row
    group by group_hash
  ) listed on true
  left join usage_groups grp on grp.organization_id = ${organizationId} and grp.shape_id = scan.shape_id
    and grp.group_hash = listed.group_hash
  union all
  ${waitingMembers(db)}`;

/** Every event of open batches, as a row of `listMembers`. */
export const waitingMembers = (db: Db) => db`
  select array[n] as ns, texts, 0 as settled, jsonb_build_array(jsonb_build_array(
    encode(substring(sha256(convert_to(text, 'UTF8')) for 16), 'hex'), operation = 'add', operation = 'add',
    ${sortableText(db, db`timestamp`)} || ' ' || ${sortableText(db, db`created_at`)} || ' ' || id,
    ${sortableText(db, db`timestamp`)}, ${sortableText(db, db`timestamp`)})) as members
  from waiting where text is not null`;

/** A row of hours of values as a `MemberEntry`. */
export const memberEntry = (db: Db) => db`
  jsonb_build_array(encode(value_hash, 'hex'), has_add, is_member,
    ${sortableText(db, db`last_ts`)} || ' ' || ${sortableText(db, db`last_created_at`)} || ' ' || last_id,
    ${sortableText(db, db`hour`)}, ${sortableText(db, db`last_ts`)})`;

/** `also_elsewhere`: values that the edges of a window or open batches have beside the hours of a `scan`. */
export const valuesElsewhere = ({ db, organizationId }: Scope) => db`
  also_elsewhere as materialized (
    select distinct scan.s, substring(sha256(convert_to(e.properties ->> scan.field, 'UTF8')) for 16) as value_hash
    from scan
    cross join jsonb_to_recordset(scan.edges) as edge ("from" timestamptz, "to" timestamptz)
    cross join lateral (
      select e.properties from events e
      where e.organization_id = ${organizationId} and e.external_subscription_id = scan.subscription
        and e.code = scan.code and e.timestamp >= edge."from" and e.timestamp < edge."to" and e.deleted_at is null
      offset 0 -- else all events of an organization that the statistics do not know were read first: 60 000 blocks
    ) e
    where scan.days is null
    union
    select scan.s, substring(sha256(convert_to(waiting.text, 'UTF8')) for 16)
    from waiting join scan on waiting.n = any (scan.ns)
    where scan.days is null
  )`;

/** Place of an event in processing order, as a text that sorts. */
export const eventKey = (db: Db, event: Fragment) => db`
  ${sortableText(db, db`${event}.timestamp`)} || ' ' || ${sortableText(db, db`${event}.created_at`)} || ' ' || ${event}.id`;

/** The hours of a scan's shape between two instants. */
const bucketsBetween = ({ db, organizationId }: Scope, from: Fragment, to: Fragment) => db`
  select hour, group_hash, events_count, valid_count, sum, moment, max, amount, last_ts, last_created_at, last_id,
    last_value
  from usage_buckets b
  where b.organization_id = ${organizationId} and b.external_subscription_id = scan.subscription
    and b.shape_id = scan.shape_id and b.hour >= ${from} and b.hour < ${to}`;

/**
 * `answering`: the charges that a rollup answers, by their position n. `scan`: the distinct reads for them; without
 * days their hours reach to "to".
 */
export const answeringShapes = ({ db, organizationId }: Scope, requests: readonly SharedRequest<RollupRequest>[]) => db`
  request as materialized (
    select row_number() over () as s, request.*
    from jsonb_to_recordset(${JSON.stringify(requests.map(({ request, askers }) => ({ ...request, askers })))}::text::jsonb)
      as request (askers jsonb, subscription text, metric_id uuid, code text, aggregation text, field text,
        "from" timestamptz, "to" timestamptz, day_from timestamptz, day_to timestamptz, days timestamptz[],
        amounts boolean, edges jsonb)
  ), answering as materialized (
    select request.*, asker.n, asker.names, shape.id as shape_id, shape.keeps_days
    from request
    cross join lateral jsonb_to_recordset(request.askers) as asker (n int, names text[])
    join usage_shapes shape on shape.organization_id = ${organizationId} and shape.billable_metric_id = request.metric_id
      and shape.state = 'live' and shape.code = request.code and shape.aggregation_type = request.aggregation
      and shape.field_name is not distinct from request.field and shape.property_names @> asker.names
    where (shape.keeps_amounts or not request.amounts) and ${hasAllHours({ db, organizationId })}
  ), scan as materialized (
    select s, subscription, code, field, aggregation, "from", "to", days, edges, shape_id, array_agg(n) as ns,
      case when keeps_days then coalesce(day_from, "to") else "to" end as day_from,
      case when keeps_days then coalesce(day_to, "to") else "to" end as day_to
    from answering
    group by s, subscription, code, field, aggregation, "from", "to", days, edges, shape_id, keeps_days,
      answering.day_from, answering.day_to
  )`;

/**
 * Whether a `shape` holds all hours of a `request`'s subscription: it is not marked for scans, and no repair is
 * pending.
 */
export const hasAllHours = ({ db, organizationId }: Scope) => db`
  not exists (
    select from usage_raw_subscriptions raw
    where raw.organization_id = ${organizationId} and raw.shape_id = shape.id
      and raw.external_subscription_id = request.subscription
  ) and not exists (
    select from usage_dirty_hours dirty
    where dirty.organization_id = ${organizationId} and dirty.shape_id = shape.id
      and dirty.external_subscription_id = request.subscription
  )`;

/** Events of open batches in the windows of the answered charges of an aggregation; skipped without such a charge. */
export const waitingEvents = ({ db, organizationId }: Scope, aggregation: 'latest_agg' | 'unique_count_agg') => db`
  waiting as materialized (
    select answering.n, e.timestamp, e.created_at, e.id, e.properties ->> answering.field as text,
      ${operationOf(db, db`e`)} as operation, (
        select coalesce(jsonb_object_agg(name, e.properties ->> name) filter (where e.properties ->> name is not null),
          '{}')
        from unnest(answering.names) as name
      ) as texts
    from event_batches batch
    cross join unnest(batch.event_ids) as member (id)
    join events e on e.id = member.id and e.organization_id = ${organizationId} and ${isLive(db, db`e`)}
    join answering on answering.aggregation = ${aggregation} and answering.subscription = e.external_subscription_id
      and answering.code = e.code and e.timestamp >= answering."from" and e.timestamp < answering."to"
    where batch.organization_ids @> array[${organizationId}::uuid]
      and exists (select from request where request.aggregation = ${aggregation})
  )`;
