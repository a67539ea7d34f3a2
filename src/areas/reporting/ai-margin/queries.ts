import type { ChargeFilter, FilterValues } from '../../../engine/metrics/choose-filter.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Properties } from '../../../engine/pricing/charge-model.ts';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { PlanId } from '../../../platform/ids.ts';
import type { Group, Order } from './schema.ts';

/** How many sums of days one report reads; one more is counted. */
export const MOST_DAY_ROWS = 2_000_000;

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

/** A charge that bills events by their own amounts. */
export interface DynamicCharge {
  plan_id: PlanId;
  code: string;
  properties: Properties;
  filters: (Omit<ChargeFilter, 'created_at'> & { created_at: string; properties: Properties })[];
  declared: FilterValues;
}

export interface MarginFacts {
  ai_settings: Record<string, unknown>;
  /** Sums of days in the range, counted one beyond what a report reads. */
  day_rows: number;
  groups: SoldGroup[];
  charges: DynamicCharge[];
}

/**
 * What is known before sums are read: how many there are, counted one beyond what a report reads, and by which charges
 * which groups are sold. One statement; without groups where there is too much.
 */
export async function readMarginFacts(scope: Scope, window: MarginWindow): Promise<MarginFacts> {
  const { db, organizationId } = scope;
  const [row] = await db<MarginFacts[]>`
    with ${cells(scope, window)}, sold as materialized (
      select distinct plan_id, group_hash from placed where plan_id is not null
    ), charge as materialized (
      select c.id, c.plan_id, m.id as metric_id, m.code, c.properties
      from charges c
      join billable_metrics m on m.organization_id = c.organization_id and m.id = c.billable_metric_id
      where c.organization_id = ${organizationId} and c.plan_id in (select plan_id from sold)
        and c.charge_model = 'dynamic' and c.deleted_at is null
    )
    select o.ai_settings, (select number from counted) as day_rows,
      coalesce((
        select jsonb_agg(jsonb_build_object('plan_id', sold.plan_id, 'group_hash', encode(sold.group_hash, 'hex'),
          'code', g.code, 'texts', g.dimensions || jsonb_build_object('provider', g.provider, 'model', g.model, 'tier',
          g.tier)))
        from sold
        join ai_groups g on g.organization_id = ${organizationId} and g.group_hash = sold.group_hash
        where exists (select from charge where charge.plan_id = sold.plan_id and charge.code = g.code)
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

/** Which part of the amounts of a group is asked for under a plan. */
export interface SoldTerm {
  plan_id: PlanId;
  /** Hex. */
  group_hash: string;
  part: Decimal;
}

export interface FiguresRow {
  events: number;
  unpriced: number;
  input_tokens: Decimal;
  output_tokens: Decimal;
  cost: Decimal;
  revenue: Decimal;
  not_billed: boolean;
  has_left_over: boolean;
}

/** One row of a report; `k0` and so on are what it is grouped by. */
export type MarginRow = FiguresRow & Record<`k${number}`, string | null>;

/** What a report is grouped by: one of the groups, or a property. */
export type GroupKey = { group: Group } | { dimension: string };

/** A page of a report, its totals, and how many rows it has. One statement. */
export async function readMargins(
  scope: Scope,
  window: MarginWindow,
  {
    keys,
    terms,
    order,
    limit,
    offset,
  }: { keys: readonly GroupKey[]; terms: readonly SoldTerm[]; order: Order; limit: number; offset: number },
): Promise<{ rows: MarginRow[]; totals: FiguresRow; totalCount: number }> {
  const { db, organizationId } = scope;
  const places = keys.map((_, place) => db.unsafe(`k${place}`));
  const names = listed(db, places);
  const columns = keys.map((key, place) => db`${keyColumn(db, key)} as ${places[place]!}`);
  const found = await db<(MarginRow & { number: number; place: number | null; totals: FiguresRow })[]>`
    with ${cells(scope, window)}, term as materialized (
      select plan_id, decode(hash, 'hex') as group_hash, part
      from unnest(${terms.map(({ plan_id: id }) => id)}::uuid[], ${terms.map(({ group_hash: hash }) => hash)}::text[],
        ${terms.map(({ part }) => part.toFixed())}::numeric[]) as term (plan_id, hash, part)
    ), figures as materialized (
      select ${keys.length === 0 ? db`` : db`${listed(db, columns)},`}
        sum(events)::bigint as events, sum(unpriced)::bigint as unpriced, sum(input_tokens) as input_tokens,
        sum(output_tokens) as output_tokens, sum(cost) as cost,
        sum(amount * coalesce(term.part, 0)) as revenue,
        bool_or(term.part is null) as not_billed, bool_or(g.model = '') as has_left_over
      from placed
      join ai_groups g on g.organization_id = ${organizationId} and g.group_hash = placed.group_hash
      left join customers customer on customer.organization_id = ${organizationId}
        and customer.id = placed.customer_id
      left join plans plan on plan.organization_id = ${organizationId} and plan.id = placed.plan_id
      left join term on term.plan_id = placed.plan_id and term.group_hash = placed.group_hash
      where true ${conditions(db, window)}
      group by ${keys.length === 0 ? db`()` : names}
      having sum(events) <> 0 or sum(cost) <> 0 or sum(amount) <> 0
    ), total as (
      select count(*) as number, coalesce(sum(events), 0)::bigint as events,
        coalesce(sum(unpriced), 0)::bigint as unpriced, coalesce(sum(input_tokens), 0) as input_tokens,
        coalesce(sum(output_tokens), 0) as output_tokens, coalesce(sum(cost), 0) as cost,
        coalesce(sum(revenue), 0) as revenue, coalesce(bool_or(not_billed), false) as not_billed,
        coalesce(bool_or(has_left_over), false) as has_left_over
      from figures
    ), page as (
      select *, row_number() over (${orderOf(db, order, names, keys.length)}) as place from figures
      ${orderOf(db, order, names, keys.length)}
      limit ${limit} offset ${offset}
    )
    select total.number, total.events as total_events, total.unpriced as total_unpriced,
      total.input_tokens as total_input_tokens, total.output_tokens as total_output_tokens, total.cost as total_cost,
      total.revenue as total_revenue, total.not_billed as total_not_billed, total.has_left_over as total_has_left_over,
      page.*
    from total left join page on true
    order by page.place`;
  const [first] = found as unknown as (Record<string, unknown> & { number: number })[];
  const totals = Object.fromEntries(
    Object.entries(first!).flatMap(([name, value]) =>
      name.startsWith('total_') ? [[name.slice('total_'.length), value]] : [],
    ),
  );
  return {
    rows: found.filter(({ place }) => place !== null),
    totals: totals as unknown as FiguresRow,
    totalCount: first!.number,
  };
}

const orderOf = (db: Db, order: Order, names: Fragment, keys: number): Fragment => {
  const by = { cost: db`cost`, margin: db`revenue - cost`, revenue: db`revenue`, events: db`events` }[order];
  return db`order by ${by} desc ${keys === 0 ? db`` : db`, ${names}`}`;
};

const listed = (db: Db, parts: readonly Fragment[]): Fragment =>
  parts.length === 0 ? db`` : parts.reduce((list, part) => db`${list}, ${part}`);

function keyColumn(db: Db, key: GroupKey): Fragment {
  if ('dimension' in key) return db`g.dimensions ->> ${key.dimension}`;
  return {
    customer: db`customer.external_id`,
    subscription: db`placed.external_subscription_id`,
    plan: db`plan.code`,
    provider: db`g.provider`,
    model: db`g.model`,
    code: db`g.code`,
    day: db`placed.day::text`,
    week: db`date_trunc('week', placed.day::timestamp)::date::text`,
    month: db`date_trunc('month', placed.day::timestamp)::date::text`,
  }[key.group];
}

function conditions(
  db: Db,
  { customer, subscription, plan, provider, model, code, dimensions }: MarginWindow,
): Fragment {
  const wanted: [Fragment, string | undefined][] = [
    [db`customer.external_id`, customer],
    [db`placed.external_subscription_id`, subscription],
    [db`plan.code`, plan],
    [db`g.provider`, provider],
    [db`g.model`, model],
    [db`g.code`, code],
    ...Object.entries(dimensions ?? {}).map(([name, text]): [Fragment, string] => [db`g.dimensions ->> ${name}`, text]),
  ];
  return wanted.reduce<Fragment>(
    (all, [column, text]) => (text === undefined ? all : db`${all} and ${column} = ${text}`),
    db``,
  );
}

/**
 * Sums by day, subscription and group as rows `placed`, each with the customer and plan that the subscription had then.
 * Of days whose hours changed since they were summed, the hours. Nothing where there are more than a report reads.
 */
const cells = ({ db, organizationId }: Scope, { from, to }: MarginWindow): Fragment => db`
  counted as materialized (
    select count(*) as number from (
      select from ai_usage_days where organization_id = ${organizationId} and day between ${from}::date and ${to}::date
      limit ${MOST_DAY_ROWS + 1}) day
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
      and (select number from counted) <= ${MOST_DAY_ROWS} and not exists (
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
