import type { Texts } from '../../engine/metrics/choose-filter.ts';
import type { Decimal } from '../../engine/money/decimal.ts';
import type { Db } from '../../platform/db/connect.ts';
import { meteredNumber } from '../../resources/usage-shapes/numbers.ts';

/** What is counted of the events of one combination of property texts. */
interface Counted {
  /** Position of the charge in the request. */
  n: number;
  events_count: number;
  valid_count: number;
  sum: Decimal;
  max: Decimal | null;
}

export interface RollupRequest {
  n: number;
  subscription: string;
  metric_id: string;
  code: string;
  aggregation: string;
  field: string | null;
  /** Properties that the charge needs to tell apart. */
  names: string[];
  /** Full hours, `[from, to)`. */
  from: string;
  to: string;
}

/** Counted hours of a charge whose rollup answers; one row without a count when it answers and there is nothing. */
export type RollupRow = (Counted & { texts: Texts | null }) | { n: number; events_count: null };

/**
 * Sums of buckets, only of charges whose metric's live shape knows all they need, with no repair pending and not too many
 * groups. Shapes and buckets are of one snapshot.
 */
export const sumBuckets = (db: Db, organizationId: string, requests: readonly RollupRequest[]) => db<RollupRow[]>`
  with request as materialized (
    select * from jsonb_to_recordset(${JSON.stringify(requests)}::text::jsonb) as request (n int, subscription text,
      metric_id uuid, code text, aggregation text, field text, names text[], "from" timestamptz, "to" timestamptz)
  ), answering as materialized (
    select request.*, shape.id as shape_id
    from request
    join usage_shapes shape on shape.organization_id = ${organizationId} and shape.billable_metric_id = request.metric_id
      and shape.state = 'live' and shape.code = request.code and shape.aggregation_type = request.aggregation
      and shape.field_name is not distinct from request.field and shape.property_names @> request.names
    where not exists (
      select from usage_raw_subscriptions raw
      where raw.organization_id = ${organizationId} and raw.shape_id = shape.id
        and raw.external_subscription_id = request.subscription
    ) and not exists (
      select from usage_dirty_hours dirty
      where dirty.organization_id = ${organizationId} and dirty.shape_id = shape.id
        and dirty.external_subscription_id = request.subscription
    )
  )
  select answering.n, grp.properties as texts, summed.events_count, summed.valid_count, summed.sum, summed.max
  from answering
  left join lateral (
    select group_hash, sum(events_count)::bigint as events_count, sum(valid_count)::bigint as valid_count,
      sum(sum) as sum, max(max) as max
    from usage_buckets b
    where b.organization_id = ${organizationId} and b.external_subscription_id = answering.subscription
      and b.shape_id = answering.shape_id and b.hour >= answering."from" and b.hour < answering."to"
    group by group_hash
  ) summed on true
  left join usage_groups grp on grp.organization_id = ${organizationId} and grp.shape_id = answering.shape_id
    and grp.group_hash = summed.group_hash`;

export interface RawRequest {
  n: number;
  subscription: string;
  code: string;
  field: string | null;
  names: string[];
  from: string;
  to: string;
  /** Events up to this instant count only with a greater id than that. */
  start_at: string | null;
  start_id: string | null;
  /** Events from this instant on count only with a smaller id than that. */
  end_at: string | null;
  end_id: string | null;
}

export type RawRow = Counted & { texts: (string | null)[] };

/** Raw events by the texts of the needed properties, in the order of their names. */
export const countRawEvents = (db: Db, organizationId: string, requests: readonly RawRequest[]) => db<RawRow[]>`
  with request as materialized (
    select * from jsonb_to_recordset(${JSON.stringify(requests)}::text::jsonb) as request (n int, subscription text, code text,
      field text, names text[], "from" timestamptz, "to" timestamptz, start_at timestamptz, start_id uuid,
      end_at timestamptz, end_id uuid)
  )
  select request.n, to_jsonb(texts) as texts, events_count, valid_count, sum, max
  from request
  cross join lateral (
    select texts, count(*) as events_count, count(value) as valid_count, coalesce(sum(value), 0) as sum, max(value) as max
    from (
      select ${meteredNumber(db, db`(e.properties ->> request.field)`)} as value,
        case when request.names = '{}' then '{}'::text[] else array(
          select e.properties ->> named.name
          from unnest(request.names) with ordinality as named (name, position)
          order by named.position
        ) end as texts
      from events e
      where e.organization_id = ${organizationId} and e.external_subscription_id = request.subscription
        and e.code = request.code and e.timestamp >= request."from" and e.timestamp < request."to" and e.deleted_at is null
        and (request.start_id is null or e.timestamp > request.start_at or e.id > request.start_id)
        and (request.end_id is null or e.timestamp < request.end_at or e.id < request.end_id)
    ) as metered
    group by texts
  ) counted`;
