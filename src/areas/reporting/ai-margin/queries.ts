import type { ChargeFilter, FilterValues } from '../../../engine/metrics/choose-filter.ts';
import type { Properties } from '../../../engine/pricing/charge-model.ts';
import type { Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { PlanId } from '../../../platform/ids.ts';

/** How much one report reads; one more of each is counted. */
export interface Bounds {
  /** Sums of days. */
  dayRows: number;
  /** Fees of charges of calls. */
  fees: number;
}

export const BOUNDS: Bounds = { dayRows: 2_000_000, fees: 200_000 };

/** Which sums a report reads: days of UTC, both included. */
export interface MarginWindow {
  from: string;
  to: string;
  customer?: string | undefined;
  subscription?: string | undefined;
  plan?: string | undefined;
  provider?: string | undefined;
  model?: string | undefined;
  code?: string | undefined;
  dimensions?: Readonly<Record<string, string>> | undefined;
}

/** Calls of one group under one plan, as its charges see them. */
export interface SoldGroup {
  plan_id: PlanId;
  /** Hex. */
  group_hash: string;
  code: string;
  texts: Record<string, string | null>;
}

/** A filter of a charge as JSON has it. */
export type StoredFilter = Omit<ChargeFilter, 'created_at'> & { created_at: string };

/** A charge that bills events by their own amounts. */
export interface DynamicCharge {
  plan_id: PlanId;
  code: string;
  properties: Properties;
  filters: (StoredFilter & { properties: Properties })[];
  declared: FilterValues;
}

export interface MarginFacts {
  ai_settings: Record<string, unknown>;
  /** Sums of days in the range, counted one beyond what a report reads. */
  day_rows: number;
  /** Where there are more: the last day of those that can be read. */
  fitting_to: string | null;
  /** Of codes for which a charge of the plan has filters: of others the charges take all groups alike. */
  groups: SoldGroup[];
  charges: DynamicCharge[];
}

/**
 * What is known before sums are read: how many there are, counted one beyond what a report reads, and by which charges
 * which groups are sold. One statement; without groups where there is too much.
 */
export async function readMarginFacts(
  scope: Scope,
  window: MarginWindow,
  { dayRows }: Pick<Bounds, 'dayRows'>,
): Promise<MarginFacts> {
  const { db, organizationId } = scope;
  const [row] = await db<MarginFacts[]>`
    with ${cells(scope, window, dayRows)}, charge as materialized (
      select c.id, c.plan_id, m.id as metric_id, m.code, c.properties
      from charges c
      join billable_metrics m on m.organization_id = c.organization_id and m.id = c.billable_metric_id
      where c.organization_id = ${organizationId} and c.plan_id in (select plan_id from place)
        and c.charge_model = 'dynamic' and c.deleted_at is null
    ), filtered as materialized (
      select plan_id, code from charge
      where exists (
        select from charge_filters f
        where f.organization_id = ${organizationId} and f.charge_id = charge.id and f.deleted_at is null)
    ), sold as materialized ( -- only for filters does it matter which groups there are
      select distinct plan_id, group_hash from placed
      where exists (select from filtered) and plan_id in (select plan_id from filtered)
    )
    select o.ai_settings, (select number from counted) as day_rows,
      case when (select number from counted) > ${dayRows} then ${lastFitting(scope, window, dayRows)}::text end
        as fitting_to,
      coalesce((
        select jsonb_agg(jsonb_build_object('plan_id', sold.plan_id, 'group_hash', encode(sold.group_hash, 'hex'),
          'code', g.code, 'texts', g.dimensions || jsonb_build_object('provider', g.provider, 'model', g.model, 'tier',
          g.tier)))
        from sold
        join ai_groups g on g.organization_id = ${organizationId} and g.group_hash = sold.group_hash
        where exists (select from filtered where filtered.plan_id = sold.plan_id and filtered.code = g.code)
      ), '[]') as groups,
      coalesce((
        select jsonb_agg(jsonb_build_object('plan_id', charge.plan_id, 'code', charge.code, 'properties',
          charge.properties, 'filters', coalesce((
            select jsonb_agg(jsonb_build_object('id', f.id, 'values', f."values", 'properties', f.properties,
              'created_at', f.created_at))
            from charge_filters f
            where f.organization_id = ${organizationId} and f.charge_id = charge.id and f.deleted_at is null
          ), '[]'), 'declared', coalesce((
            select jsonb_object_agg(declared.key, to_jsonb(declared."values"))
            from billable_metric_filters declared
            where declared.organization_id = ${organizationId} and declared.billable_metric_id = charge.metric_id
          ), '{}')))
        from charge
      ), '[]') as charges
    from organizations o where o.id = ${organizationId}`;
  return row!;
}

interface Span {
  from: string | Fragment;
  to: string | Fragment;
}

/** SQL: the day before the one whose sums are more than a report reads. */
export const lastFitting = ({ db, organizationId }: Scope, { from, to }: Span, most: number): Fragment => db`(
  select day - 1 from ai_usage_days
  where organization_id = ${organizationId} and day between ${from}::date and ${to}::date
  order by day offset ${most} limit 1)`;

/**
 * Sums by day, subscription and group as rows `placed`, each with the customer and plan that the subscription had then.
 * Of days whose hours changed since they were summed, the hours. Nothing where there are more than a report reads.
 */
export const cells = ({ db, organizationId }: Scope, { from, to }: Span, most: number): Fragment => db`
  counted as materialized (
    select count(*) as number from (
      select from ai_usage_days where organization_id = ${organizationId} and day between ${from}::date and ${to}::date
      limit ${most + 1}) day
  ), place as materialized (
    -- a later subscription of the same external id takes over on the day on which it begins
    select external_id, customer_id, plan_id,
      case when lag(id) over same is null then '-infinity'::date else (started_at at time zone 'UTC')::date end as first_day,
      coalesce(lead((started_at at time zone 'UTC')::date) over same, 'infinity') as next_day
    from subscriptions
    where organization_id = ${organizationId} and started_at is not null and status in ('active', 'terminated')
    window same as (partition by external_id order by started_at, id)
  ), changed as materialized (
    select external_subscription_id, day from ai_changed_days
    where organization_id = ${organizationId} and day between ${from}::date and ${to}::date
  ), cell as (
    select day, external_subscription_id, group_hash, events, unpriced, input_tokens, output_tokens, cost, amount
    from ai_usage_days summed
    where organization_id = ${organizationId} and day between ${from}::date and ${to}::date
      and (select number from counted) <= ${most} and not exists (
        select from changed
        where changed.external_subscription_id = summed.external_subscription_id and changed.day = summed.day)
    union all
    select changed.day, hours.external_subscription_id, group_hash, events, unpriced, input_tokens, output_tokens, cost,
      amount
    from changed
    join ai_usage_hours hours on hours.organization_id = ${organizationId}
      and hours.external_subscription_id = changed.external_subscription_id
      and hours.hour >= changed.day::timestamp at time zone 'UTC'
      and hours.hour < (changed.day + 1)::timestamp at time zone 'UTC'
  ), placed as (
    select cell.*, place.customer_id, place.plan_id
    from cell
    left join place on place.external_id = cell.external_subscription_id and cell.day >= place.first_day
      and cell.day < place.next_day
  )`;

/**
 * Groups and customers of the rows of `source`, each looked up once by its key, as `known_group` and `known_customer`.
 * Joined to the rows themselves, all of an organization were compared with each row until Postgres had analyzed the
 * tables: 5 million comparisons for 1 000 customers and ten models.
 */
export const namesOf = ({ db, organizationId }: Scope, source: Fragment): Fragment => db`
  known_group as materialized (
    select known.*
    from (select distinct group_hash from ${source}) used
    cross join lateral (
      select * from ai_groups where organization_id = ${organizationId} and group_hash = used.group_hash offset 0
    ) known
  ), known_customer as materialized (
    select known.id, known.external_id
    from (select distinct customer_id from ${source}) used
    cross join lateral (select * from customers where id = used.customer_id offset 0) known
    where known.organization_id = ${organizationId}
  )`;
