import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { PlanId } from '../../../platform/ids.ts';
import { type Bounds, cells, type MarginWindow, namesOf } from './queries.ts';
import type { Group, Order } from './schema.ts';

/** Which part of the amounts of a group, or of all groups of a code, is asked for under a plan. */
export type SoldTerm = { plan_id: PlanId; part: Decimal } & (
  | { /** Hex. */ group_hash: string; code: null }
  | { group_hash: null; code: string }
);

export interface FiguresRow {
  events: number;
  unpriced: number;
  input_tokens: Decimal;
  output_tokens: Decimal;
  cost: Decimal;
  /** Without what has no rate of conversion. */
  revenue: Decimal;
  not_billed: boolean;
  not_invoiced: boolean;
  no_conversion_rate: boolean;
  has_left_over: boolean;
}

/**
 * Rows `figure` that a report sums, after `with`: a day, subscription and group with its figures, the customer and plan
 * that it belongs to, and its revenue in cents of the book, null where that is not known. Beside them the names of
 * their groups and customers, `namesOf`.
 */
export type Figures = Fragment;

/**
 * Revenue by the amounts of calls and the terms of charges of today. Days are summed first, unless the report shows
 * them apart: what follows is done once for a subscription and group.
 */
export const soldFigures = (
  scope: Scope,
  window: MarginWindow,
  { terms, bounds, keys }: { terms: readonly SoldTerm[]; bounds: Bounds; keys: readonly GroupKey[] },
): Figures => {
  const { db } = scope;
  const day = keys.some((key) => 'group' in key && OF_DAYS.includes(key.group)) ? db`day` : db`null::date`;
  return db`
    ${cells(scope, window, bounds.dayRows)}, term as materialized (
      select plan_id, decode(hash, 'hex') as group_hash, code, part
      from unnest(${terms.map(({ plan_id: id }) => id)}::uuid[], ${terms.map(({ group_hash: hash }) => hash)}::text[],
        ${terms.map(({ code }) => code)}::text[], ${terms.map(({ part }) => part.toFixed())}::numeric[])
        as term (plan_id, hash, code, part)
    ), summed as materialized (
      select ${day} as day, customer_id, plan_id, external_subscription_id, group_hash, sum(events) as events,
        sum(unpriced) as unpriced, sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens,
        sum(cost) as cost, sum(amount) as amount
      from placed
      group by 1, 2, 3, 4, 5
    ), ${namesOf(scope, db`summed`)}, figure as (
      select summed.*, amount * coalesce(own.part, common.part, 0) as revenue,
        own.part is null and common.part is null as not_billed, false as not_invoiced
      from summed
      left join known_group known on known.group_hash = summed.group_hash
      left join term own on own.plan_id = summed.plan_id and own.group_hash = summed.group_hash
      left join term common on common.plan_id = summed.plan_id and common.code = known.code
    )`;
};

/** Groups that show days apart. */
const OF_DAYS: readonly Group[] = ['day', 'week', 'month'];

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
    figures,
    order,
    limit,
    offset,
  }: { keys: readonly GroupKey[]; figures: Figures; order: Order; limit: number; offset: number },
): Promise<{ rows: MarginRow[]; totals: FiguresRow; totalCount: number }> {
  const { db, organizationId } = scope;
  const places = keys.map((_, place) => db.unsafe(`k${place}`));
  const names = listed(db, places);
  const columns = keys.map((key, place) => db`${keyColumn(db, key)} as ${places[place]!}`);
  const found = await db<(MarginRow & { number: number; place: number | null; totals: FiguresRow })[]>`
    with ${figures}, shown as materialized (
      select ${keys.length === 0 ? db`` : db`${listed(db, columns)},`}
        sum(events)::bigint as events, sum(unpriced)::bigint as unpriced, sum(input_tokens) as input_tokens,
        sum(output_tokens) as output_tokens, sum(cost) as cost, coalesce(sum(revenue), 0) as revenue,
        bool_or(not_billed) as not_billed, bool_or(not_invoiced) as not_invoiced,
        bool_or(revenue is null) as no_conversion_rate, coalesce(bool_or(g.model = ''), false) as has_left_over
      from figure placed
      left join known_group g on g.group_hash = placed.group_hash
      left join known_customer customer on customer.id = placed.customer_id
      left join plans plan on plan.organization_id = ${organizationId} and plan.id = placed.plan_id
      where true ${conditions(db, window)}
      group by ${keys.length === 0 ? db`()` : names}
      having sum(events) <> 0 or sum(cost) <> 0 or sum(amount) <> 0 or coalesce(sum(revenue), 0) <> 0
        or bool_or(revenue is null)
    ), total as (
      select count(*) as number, coalesce(sum(events), 0)::bigint as events,
        coalesce(sum(unpriced), 0)::bigint as unpriced, coalesce(sum(input_tokens), 0) as input_tokens,
        coalesce(sum(output_tokens), 0) as output_tokens, coalesce(sum(cost), 0) as cost,
        coalesce(sum(revenue), 0) as revenue, coalesce(bool_or(not_billed), false) as not_billed,
        coalesce(bool_or(not_invoiced), false) as not_invoiced,
        coalesce(bool_or(no_conversion_rate), false) as no_conversion_rate,
        coalesce(bool_or(has_left_over), false) as has_left_over
      from shown
    ), page as (
      select *, row_number() over (${orderOf(db, order, names, keys.length)}) as place from shown
      ${orderOf(db, order, names, keys.length)}
      limit ${limit} offset ${offset}
    )
    select total.number, total.events as total_events, total.unpriced as total_unpriced,
      total.input_tokens as total_input_tokens, total.output_tokens as total_output_tokens, total.cost as total_cost,
      total.revenue as total_revenue, total.not_billed as total_not_billed, total.not_invoiced as total_not_invoiced,
      total.no_conversion_rate as total_no_conversion_rate, total.has_left_over as total_has_left_over,
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
