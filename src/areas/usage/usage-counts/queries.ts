import type { Temporal } from 'temporal-polyfill';
import type { GroupedBy } from '../../../engine/metrics/group-values.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { ChargeFilterId, ChargeId, SubscriptionId } from '../../../platform/ids.ts';
import { meteredNumber } from '../../catalog/usage-shapes/numeric-properties.ts';
import { lastOf } from '../../catalog/usage-shapes/raw-buckets.ts';
import { type Counted, eventKey } from './rollup-queries.ts';
import { allNames, type SharedRequest } from './share-requests.ts';

export interface RawRequest {
  subscription: string;
  code: string;
  aggregation: string;
  field: string | null;
  from: string;
  to: string;
  /** Up to this instant only events with a greater id than that count. */
  start_at: string | null;
  start_id: string | null;
  /** From this instant on only events with a smaller id than that count. */
  end_at: string | null;
  end_id: string | null;
  /** At most this many events of each combination of texts, first in processing order; null: all. */
  first: number | null;
  /** Of single events at most this many in all, first in processing order; null: all. */
  most: number | null;
  /** Events with a greater id, or created at or after an instant, count only if a correction has taken them in. */
  late_after_id: string | null;
  late_since: string | null;
}

export interface RawRow extends Counted {
  /** Position of the request. */
  n: number;
  /** Texts of the properties named in the request, in that order; null where the event has none. */
  texts: (string | null)[];
}

/** Raw events by the texts of the needed properties, in the order of their names. */
export const countRawEvents = ({ db, organizationId }: Scope, requests: readonly SharedRequest<RawRequest>[]) => db<
  RawRow[]
>`
  with ${requestedEvents(db, requests)}
  select request.n, to_jsonb(texts) as texts, events_count, valid_count, sum, moment, max, amount, last
  from request
  cross join lateral (
    select texts, count(*) as events_count, count(value) as valid_count, coalesce(sum(value), 0) as sum,
      max(value) as max,
      coalesce(sum(value * extract(epoch from timestamp)) filter (where request.aggregation = 'weighted_sum_agg'),
      0) as moment,
      coalesce(sum(precise_total_amount_cents) filter (where value is not null), 0) as amount,
      ${lastOf(db, db`value::text`, db`value is not null and request.aggregation = 'latest_agg'`)} as last
    from (
      select ${meteredNumber(db, db`(e.properties ->> request.field)`)} as value, e.timestamp, e.created_at, e.id,
        e.precise_total_amount_cents, ${neededTexts(db)} as texts
      ${countedEvents({ db, organizationId })}
    ) as metered
    group by texts
  ) counted`;

export interface EventRow {
  n: number;
  texts: (string | null)[];
  /** Text of the aggregated property. */
  text: string;
  /** Text of `operation_type`, of unique counts. */
  operation: string | null;
  timestamp: Temporal.Instant;
  /** For unique counts: its place in processing order, as text. */
  key: string | null;
}

/**
 * Single raw events that an aggregation takes, in processing order: of unique counts those with the property, of others
 * those whose property is a number. Rule: aggregation.md#selecting-events.
 */
export const listEvents = (scope: Scope, requests: readonly SharedRequest<RawRequest>[]) => scope.db<EventRow[]>`
  with ${requestedEvents(scope.db, requests)}
  select request.n, to_jsonb(texts) as texts, text, operation, timestamp, key
  from request
  cross join lateral (
    select texts, timestamp, created_at, id, text, operation, key from (${meteredEvents(scope)}) each
    where request.first is null and request.most is null and text is not null
    union all
    (
      select texts, timestamp, created_at, id, text, operation, key from (${meteredEvents(scope)}) each
      where (request.first is not null and request.names = '{}' or request.first is null and request.most is not null)
        and text is not null
      order by timestamp, created_at, id
      limit least(request.first, request.most)
    )
    union all
    (
      select texts, timestamp, created_at, id, text, operation, key from (
        select each.*, row_number() over (partition by texts order by timestamp, created_at, id) as place
        from (${meteredEvents(scope)}) each
        where request.first is not null and request.names <> '{}' and text is not null
      ) placed
      where place <= request.first
      limit request.most
    )
  ) event
  order by request.n, timestamp, created_at, id`;

/** The events of a request with the values that an aggregation reads. */
const meteredEvents = (scope: Scope) => scope.db`
  select ${neededTexts(scope.db)} as texts, e.timestamp, e.created_at, e.id,
    case when request.aggregation = 'unique_count_agg' then e.properties ->> request.field
      else (${meteredNumber(scope.db, scope.db`(e.properties ->> request.field)`)})::text end as text,
    case when request.aggregation = 'unique_count_agg' then e.properties ->> 'operation_type' end as operation,
    case when request.aggregation = 'unique_count_agg' then ${eventKey(scope.db, scope.db`e`)} end as key
  ${countedEvents(scope)}`;

const requestedEvents = (db: Db, requests: readonly SharedRequest<RawRequest>[]) => db`
  request as materialized (
    select * from jsonb_to_recordset(
      ${JSON.stringify(requests.map((each, n) => ({ n, names: allNames(each), ...each.request })))}::text::jsonb) as request (n int, subscription text, code text,
      aggregation text, field text, names text[], "from" timestamptz, "to" timestamptz, start_at timestamptz,
      start_id uuid,
      end_at timestamptz, end_id uuid, first int, most int,
        late_after_id uuid, late_since timestamptz)
  )`;

/** The texts of an event `e` that a request needs. */
const neededTexts = (db: Db) => db`
  case when request.names = '{}' then '{}'::text[] else array(
    select e.properties ->> named.name
    from unnest(request.names) with ordinality as named (name, position)
    order by named.position
  ) end`;

/** The events of a request, as `e`. Rules: events.md#subscription-of-an-event, aggregation.md#selecting-events. */
export const selectedEvents = ({ db, organizationId }: Scope) => db`
  from events e
  where e.organization_id = ${organizationId} and e.external_subscription_id = request.subscription
    and e.code = request.code and e.timestamp >= request."from" and e.timestamp < request."to" and e.deleted_at is null
    and (request.start_id is null or e.timestamp > request.start_at or e.id > request.start_id)
    and (request.end_id is null or e.timestamp < request.end_at or e.id < request.end_id)`;

/** The same without late events that are not taken in. */
const countedEvents = (scope: Scope) => scope.db`
  ${selectedEvents(scope)} and not ${isLeftOut(scope)}`;

/** Whether an event `e` is late for a request and no correction has taken it in. */
export const isLeftOut = ({ db, organizationId }: Scope) => db`
  (coalesce(e.id > request.late_after_id, e.created_at >= request.late_since, false) and not exists (
    select from taken_late_events taken where taken.organization_id = ${organizationId} and taken.event_id = e.id))`;

export interface TotalRequest {
  n: number;
  subscription_id: SubscriptionId;
  charge_id: ChargeId;
  /** End of the billed periods that are examined. */
  before: string;
}

export interface TotalRow {
  n: number;
  charge_filter_id: ChargeFilterId | null;
  grouped_by: GroupedBy;
  total: Decimal;
}

/**
 * Running totals that earlier periods ended with, from their newest fees or from corrections of them, also of those
 * that wait for the invoice: one for each filter and group.
 */
export const listBilledTotals = ({ db, organizationId }: Scope, requests: readonly TotalRequest[]) => db<TotalRow[]>`
  select distinct on (request.n, billed.charge_filter_id, billed.grouped_by)
    request.n, billed.charge_filter_id, billed.grouped_by, billed.total
  from jsonb_to_recordset(${JSON.stringify(requests)}::text::jsonb) as request (n int, subscription_id uuid,
    charge_id uuid,
    "before" timestamptz)
  cross join lateral (
    select fee.charge_filter_id, fee.grouped_by, fee.total_aggregated_units as total, fee.to_datetime,
      false as is_corrected, 0 as turn, fee.created_at, fee.id
    from fees fee
    where fee.organization_id = ${organizationId} and fee.subscription_id = request.subscription_id
      and fee.fee_type = 'charge' and fee.charge_id = request.charge_id and fee.true_up_parent_fee_id is null
      and fee.original_fee_id is null and fee.correction_id is null and fee.deleted_at is null
      and fee.to_datetime <= request."before"
    union all
    select adjustment.charge_filter_id, adjustment.grouped_by, adjustment.total_units, adjustment.to_datetime,
      true, adjustment.turn, adjustment.created_at, adjustment.id
    from correction_adjustments adjustment
    where adjustment.organization_id = ${organizationId} and adjustment.subscription_id = request.subscription_id
      and adjustment.charge_id = request.charge_id and adjustment.total_units is not null
      and adjustment.to_datetime <= request."before"
    union all
    select total.charge_filter_id, total.grouped_by, total.total_units, period.charges_to_datetime, true, period.turn,
      '-infinity', period.correction_id
    from correction_periods period
    cross join jsonb_to_recordset(period.totals) as total (charge_filter_id uuid, grouped_by jsonb, total_units numeric)
    where period.organization_id = ${organizationId} and period.subscription_id = request.subscription_id
      and period.charge_id = request.charge_id and period.settled_at is null and period.totals is not null
      and period.charges_to_datetime <= request."before"
  ) billed
  order by request.n, billed.charge_filter_id, billed.grouped_by, billed.to_datetime desc, billed.is_corrected desc,
    billed.turn desc, billed.created_at desc, billed.id desc`;
