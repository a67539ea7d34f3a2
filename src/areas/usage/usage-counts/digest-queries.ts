import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { digestOfHashes, eventHash } from '../../catalog/usage-shapes/event-digest.ts';
import { type RawRequest, selectedEvents } from './queries.ts';
import { hasAllHours, type RollupRequest } from './rollup-queries.ts';

/** Full hours of a window; `n` is its position. */
export type DigestedHours = { n: number } & Omit<RollupRequest, 'days' | 'amounts' | 'edges'>;
/** A stretch of a window that is read from its events. */
export type DigestedEvents = { n: number } & Omit<
  RawRequest,
  'aggregation' | 'first' | 'most' | 'late_after_id' | 'late_since'
>;

/** Digests of hours or events of the window at `n`. */
export interface DigestRow {
  n: number;
  is_rollup: boolean;
  events_count: number;
  max_id: string | null;
  /** Sum of digests, a whole number. */
  digest: string;
}

/**
 * Digests of full hours, as live shapes keep them, and of the events of partial ones: one statement, one snapshot.
 * Windows whose hours no shape holds have no row of `is_rollup`.
 */
export const sumDigests = (
  { db, organizationId }: Scope,
  hours: readonly DigestedHours[],
  events: readonly DigestedEvents[],
) => db<DigestRow[]>`
  with ${requestedEvents(db, events)}, answering as materialized (
    select request.*, shape.id as shape_id,
      case when shape.keeps_days then coalesce(request.day_from, request."to") else request."to" end as hours_to,
      case when shape.keeps_days then coalesce(request.day_to, request."to") else request."to" end as hours_from
    from jsonb_to_recordset(${JSON.stringify(hours)}::text::jsonb) as request (n int, subscription text, metric_id uuid,
      code text, aggregation text, field text, "from" timestamptz, "to" timestamptz, day_from timestamptz,
      day_to timestamptz)
    join usage_shapes shape on shape.organization_id = ${organizationId} and shape.billable_metric_id = request.metric_id
      and shape.state = 'live' and shape.code = request.code and shape.aggregation_type = request.aggregation
      and shape.field_name is not distinct from request.field
    where ${hasAllHours({ db, organizationId })}
  )
  select answering.n, true as is_rollup, summed.*
  from answering
  cross join lateral (
    select coalesce(sum(events_count), 0)::bigint as events_count, max(max_id::text collate "C") as max_id,
      coalesce(sum(digest), 0)::text as digest
    from (
      select events_count, max_id, digest from usage_buckets b
      where b.organization_id = ${organizationId} and b.external_subscription_id = answering.subscription
        and b.shape_id = answering.shape_id and b.hour >= answering."from" and b.hour < answering.hours_to
      union all
      select events_count, max_id, digest from usage_buckets b
      where b.organization_id = ${organizationId} and b.external_subscription_id = answering.subscription
        and b.shape_id = answering.shape_id and b.hour >= answering.hours_from and b.hour < answering."to"
      union all
      select events_count, max_id, digest from usage_days d
      where d.organization_id = ${organizationId} and d.external_subscription_id = answering.subscription
        and d.shape_id = answering.shape_id and d.day >= answering.hours_to and d.day < answering.hours_from
    ) as part
  ) summed
  union all
  select request.n, false, digested.*
  from request
  cross join lateral (
    select count(*) as events_count, max(id::text collate "C") as max_id, (${digestOfHashes(db)})::text as digest
    from (select e.id, ${eventHash(db, db`request.field`)} as hash ${selectedEvents({ db, organizationId })}) as hashed
  ) digested`;

/** The same from events alone, at most `limit` of each stretch. */
export const sumDigestsUpTo = ({ db, organizationId }: Scope, events: readonly DigestedEvents[], limit: number) => db<
  DigestRow[]
>`
  with ${requestedEvents(db, events)}
  select request.n, false as is_rollup, digested.*
  from request
  cross join lateral (
    select count(*) as events_count, max(id::text collate "C") as max_id, (${digestOfHashes(db)})::text as digest
    from (
      select e.id, ${eventHash(db, db`request.field`)} as hash ${selectedEvents({ db, organizationId })} limit ${limit}
    ) as hashed
  ) digested`;

const requestedEvents = (db: Db, events: readonly DigestedEvents[]) => db`
  request as materialized (
    select * from jsonb_to_recordset(${JSON.stringify(events)}::text::jsonb) as request (n int, subscription text,
      code text, field text, "from" timestamptz, "to" timestamptz, start_at timestamptz, start_id uuid,
      end_at timestamptz, end_id uuid)
  )`;
