import type { Db, Fragment } from '../../platform/db/connect.ts';
import { meteredNumber } from './numbers.ts';
import type { Shape } from './shape.ts';

type ShapeToFill = Pick<Shape, 'aggregation_type' | 'field_name' | 'property_names'>;

/** Texts of the named properties of an event `e`, in the order of the names. */
export const propertyTexts = (db: Db, names: readonly string[]) =>
  names.length === 0
    ? db`'{}'::text[]`
    : db`array(
        select e.properties ->> named.name
        from unnest(${names as string[]}::text[]) with ordinality as named (name, position)
        order by named.position
      )`;

/**
 * Buckets of a shape computed from raw events: the rows that writers would have made. `source` is what stands after
 * `from`: live events `e` of the shape's code. The hash is the one of `groupHash`: JSON of a text array is the same text
 * here and there.
 */
export const rawBuckets = (db: Db, shape: ShapeToFill, source: Fragment) => db`
  select organization_id, external_subscription_id, hour, texts,
    substring(sha256(convert_to(array_to_json(texts)::text, 'UTF8')) for 16) as group_hash,
    count(*) as events_count, count(value) as valid_count, coalesce(sum(value), 0) as sum,
    ${shape.aggregation_type === 'weighted_sum_agg' ? db`coalesce(sum(value * extract(epoch from timestamp - hour)), 0)` : db`0::numeric`} as moment,
    ${shape.aggregation_type === 'max_agg' ? db`max(value)` : db`null::numeric`} as max
  from (
    select e.organization_id, e.external_subscription_id, e.timestamp, ${hourOf(db, db`e.timestamp`)} as hour,
      ${propertyTexts(db, shape.property_names)} as texts,
      ${shape.field_name === null ? db`null::numeric` : meteredNumber(db, db`(e.properties ->> ${shape.field_name})`)} as value
    from ${source}
  ) as metered
  group by organization_id, external_subscription_id, hour, texts`;

/** The full hour of an instant. */
export const hourOf = (db: Db, instant: Fragment) => db`date_bin('1 hour', ${instant}, timestamptz 'epoch')`;
