import type { Db, Fragment } from '../../../platform/db/connect.ts';
import { digestOfHashes, eventHash } from './event-digest.ts';
import { meteredNumber } from './numeric-properties.ts';
import type { Shape } from './usage-shape.ts';

type ShapeToFill = Pick<Shape, 'aggregation_type' | 'field_name' | 'property_names'>;

/** Texts of the named properties of an event `e`, in the order of the names. */
export const propertyTexts = (db: Db, names: readonly string[]) =>
  names.length === 0
    ? db`'{}'::text[]`
    : db`array(
        select e.properties ->> named.name
        from unnest(${names}::text[]) with ordinality as named (name, position)
        order by named.position
      )`;

/**
 * Buckets of a shape computed from raw events: the rows that writers would have made. `source` is what stands after
 * `from`: live events `e` of the shape's code. The hash is the one of `groupHash`: JSON of a text array is the same
 * text here and there.
 */
export const rawBuckets = (db: Db, shape: ShapeToFill, source: Fragment) => db`
  select organization_id, external_subscription_id, hour, texts,
    substring(sha256(convert_to(array_to_json(texts)::text, 'UTF8')) for 16) as group_hash,
    count(*) as events_count, count(value) as valid_count, coalesce(sum(value), 0) as sum,
    ${
      shape.aggregation_type === 'weighted_sum_agg'
        ? db`coalesce(sum(value * extract(epoch from timestamp - hour)),
    0)`
        : db`0::numeric`
    } as moment,
    ${shape.aggregation_type === 'max_agg' ? db`max(value)` : db`null::numeric`} as max,
    coalesce(sum(precise_total_amount_cents) filter (where value is not null), 0) as amount,
    ${shape.aggregation_type === 'latest_agg' ? lastOf(db, db`value::text`, db`value is not null`) : db`null::text[]`} as last,
    ${digestOfHashes(db)} as digest, max(id::text collate "C")::uuid as max_id
  from (
    select e.organization_id, e.external_subscription_id, e.timestamp, e.created_at, e.id,
      ${hourOf(db, db`e.timestamp`)} as hour,
      e.precise_total_amount_cents, ${propertyTexts(db, shape.property_names)} as texts,
      ${eventHash(db, db`${shape.field_name}::text`)} as hash,
      ${shape.field_name === null ? db`null::numeric` : meteredNumber(db, db`(e.properties ->> ${shape.field_name})`)} as value
    from ${source}
  ) as metered
  group by organization_id, external_subscription_id, hour, texts`;

/**
 * Rows of unique counts computed from raw events, of the same source: of each value and hour whether it was added, and
 * the last operation on it.
 */
export const rawUniques = (db: Db, shape: ShapeToFill, source: Fragment) => db`
  select organization_id, external_subscription_id, hour, group_hash, value_hash, has_add, last[4] = 'add' as is_member,
    last[1]::timestamptz as last_ts, last[2]::timestamptz as last_created_at, last[3]::uuid as last_id
  from (
    select organization_id, external_subscription_id, hour,
      substring(sha256(convert_to(array_to_json(texts)::text, 'UTF8')) for 16) as group_hash,
      substring(sha256(convert_to(text, 'UTF8')) for 16) as value_hash,
      bool_or(operation = 'add') as has_add, ${lastOf(db, db`operation`, db`true`)} as last
    from (
      select e.organization_id, e.external_subscription_id, e.timestamp, e.created_at, e.id,
        ${hourOf(db, db`e.timestamp`)} as hour, ${propertyTexts(db, shape.property_names)} as texts,
        e.properties ->> ${shape.field_name} as text, ${operationOf(db, db`e`)} as operation
      from ${source}
    ) as event
    where text is not null
    group by organization_id, external_subscription_id, hour, texts, text
  ) as member`;

/** How an event changes its value: any text but `remove` adds it (aggregation.md#unique-count). */
export const operationOf = (db: Db, event: Fragment) =>
  db`case when ${event}.properties ->> 'operation_type' = 'remove' then 'remove' else 'add' end`;

/**
 * The last event by timestamp, creation and id, as an array of sortable texts with `what` as the fourth, so that the
 * greatest is the last event. An ordered aggregate would sort the whole statement.
 */
export const lastOf = (db: Db, what: Fragment, where: Fragment) => db`
  max(array[${sortableText(db, db`timestamp`)}, ${sortableText(db, db`created_at`)}, id::text, ${what}] collate "C")
    filter (where ${where})`;

/** Text of an instant whose order is the order of time. */
export const sortableText = (db: Db, instant: Fragment) =>
  db`to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** The UTC day of an instant. */
export const dayOf = (db: Db, instant: Fragment) => db`date_bin('1 day', ${instant}, timestamptz 'epoch')`;

/** Rows of days of a shape that keeps them, summed up from buckets: all that stands after `from`. */
export const daysOf = (db: Db, shape: Pick<Shape, 'id' | 'aggregation_type'>, buckets: Fragment) => db`
  select organization_id, external_subscription_id, ${shape.id}::uuid, ${dayOf(db, db`hour`)} as day, group_hash,
    sum(events_count)::bigint, sum(valid_count)::bigint, sum(sum),
    ${
      shape.aggregation_type === 'weighted_sum_agg'
        ? db`sum(moment + sum * extract(epoch
      from hour - ${dayOf(db, db`hour`)}))`
        : db`0::numeric`
    },
    sum(amount), sum(digest), max(max_id::text collate "C")::uuid
  from ${buckets}
  group by organization_id, external_subscription_id, day, group_hash`;

/** The full hour of an instant. */
export const hourOf = (db: Db, instant: Fragment) => db`date_bin('1 hour', ${instant}, timestamptz 'epoch')`;
