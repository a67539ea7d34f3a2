import { CURRENCIES, type Currency, exponentOf } from '../../../engine/money/currency.ts';
import type { Properties } from '../../../engine/pricing/charge-model.ts';
import type { Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { ChargeFilterId, ChargeId } from '../../../platform/ids.ts';
import { daysOfOtherFees, fees, otherFees, windowsOfFees } from './billed-fees.ts';
import { type Bounds, cells, lastFitting, type MarginWindow, namesOf, type StoredFilter } from './queries.ts';
import type { Figures } from './report.ts';

/** Calls of one group, as a charge with filters sees them. */
interface SeenGroup {
  charge_id: ChargeId;
  /** Hex. */
  group_hash: string;
  texts: Record<string, string | null>;
}

interface FilteredCharge {
  charge_id: ChargeId;
  filters: (StoredFilter & { properties: Properties })[];
  declared: Record<string, string[]>;
}

export interface BilledFacts {
  ai_settings: Record<string, unknown>;
  /** Fees, those for no calls and sums of days that the report reads, each counted one beyond what it may. */
  fees: number;
  other_fees: number;
  day_rows: number;
  /** Days of UTC that the fees reach, and at least those of the report. */
  first_day: string;
  last_day: string;
  groups: SeenGroup[];
  charges: FilteredCharge[];
}

/**
 * What is known before fees are spread: how many there are, over which days, and which groups the charges with filters
 * see. One statement; without groups where there is too much.
 */
export async function readBilledFacts(
  scope: Scope,
  window: MarginWindow,
  { bounds, others }: { bounds: Bounds; others: boolean },
): Promise<BilledFacts> {
  const { db, organizationId } = scope;
  const span = { from: db`(select first_day from span)`, to: db`(select last_day from span)` };
  const [row] = await db<BilledFacts[]>`
    with ${fees(scope, window, bounds)}, span as materialized (
      select least(${window.from}::date, min((window_from at time zone 'UTC')::date)) as first_day,
        greatest(${window.to}::date, max((window_to at time zone 'UTC')::date)) as last_day
      from fee
    ), ${cells(scope, span, bounds.dayRows)}, filtered as materialized (
      select distinct fee.charge_id from fee
      where exists (
        select from charge_filters f where f.organization_id = ${organizationId} and f.charge_id = fee.charge_id)
    )
    select o.ai_settings, (select count(*) from fee) as fees, (select number from counted) as day_rows,
      ${others ? db`(select count(*) from (${daysOfOtherFees(scope, window)} limit ${bounds.fees + 1}) other)` : db`0`}
        as other_fees,
      (select first_day::text from span) as first_day, (select last_day::text from span) as last_day,
      coalesce((
        select jsonb_agg(jsonb_build_object('charge_id', seen.charge_id, 'group_hash', encode(seen.group_hash, 'hex'),
          'texts', g.dimensions || jsonb_build_object('provider', g.provider, 'model', g.model, 'tier', g.tier)))
        from (
          select distinct fee.charge_id, cell.group_hash
          from fee
          join filtered using (charge_id)
          join cell on cell.external_subscription_id = fee.external_subscription_id
        ) seen
        join ai_groups g on g.organization_id = ${organizationId} and g.group_hash = seen.group_hash
      ), '[]') as groups,
      coalesce((
        select jsonb_agg(jsonb_build_object('charge_id', c.id, 'filters', (
            select jsonb_agg(jsonb_build_object('id', f.id, 'values', f."values", 'properties', f.properties,
              'created_at', f.created_at))
            from charge_filters f
            where f.organization_id = ${organizationId} and f.charge_id = c.id
              and (f.deleted_at is null or f.id in (select charge_filter_id from fee))
          ), 'declared', coalesce((
            select jsonb_object_agg(declared.key, to_jsonb(declared."values"))
            from billable_metric_filters declared
            where declared.organization_id = ${organizationId} and declared.billable_metric_id = c.billable_metric_id
          ), '{}')))
        from charges c where c.organization_id = ${organizationId} and c.id in (select charge_id from filtered)
      ), '[]') as charges
    from organizations o where o.id = ${organizationId}`;
  return row!;
}

/**
 * Of a report that reads too much: the last day up to which it does not, which may lie before its first one. A fee
 * reaches as far beyond the last day as its window is long. One statement.
 */
export async function lastBilledDay(
  scope: Scope,
  window: MarginWindow,
  { bounds, facts, others }: { bounds: Bounds; facts: BilledFacts; others: boolean },
): Promise<string | null> {
  const { db } = scope;
  const days = { from: facts.first_day, to: facts.last_day };
  const [row] = await db<{ day: string | null }[]>`
    with fee as materialized (${windowsOfFees(scope, window)})
    select least(
      (select (window_from at time zone 'UTC')::date - 1 from fee order by window_from offset ${bounds.fees} limit 1),
      ${
        others
          ? db`(select other.day - 1 from (${daysOfOtherFees(scope, window)}) other order by other.day
            offset ${bounds.fees} limit 1)`
          : db`null`
      },
      ${
        facts.day_rows > bounds.dayRows
          ? db`${lastFitting(scope, days, bounds.dayRows)} - (
            select coalesce(max((window_to at time zone 'UTC')::date - (window_from at time zone 'UTC')::date), 0) from fee)`
          : db`null`
      })::text as day`;
  return row!.day;
}

/** Into which filter of a charge a group falls; null: into none. */
export interface TakenGroup {
  charge_id: ChargeId;
  /** Hex. */
  group_hash: string;
  charge_filter_id: ChargeFilterId | null;
}

/**
 * Revenue by fees of finalized invoices, net of taxes, after coupons and credit notes. A fee is spread over the days
 * and groups of the calls of its window that its charge, filter and group of values take: by their amounts for a
 * dynamic charge, else by their tokens, equally where these are 0. Whole cents, the largest remainders first, so that
 * the parts of a fee sum to it. Without any such call it stands on the first day of its window, without a model. Each
 * part is then converted to the currency of the book.
 *
 * others  also fees without any call, on the issuing date of their invoices
 *
 * Rule: margins.md#billed.
 */
export function billedFigures(
  scope: Scope,
  window: MarginWindow,
  {
    days,
    taken,
    currency,
    others,
    bounds,
  }: {
    days: { first: string; last: string };
    taken: readonly TakenGroup[];
    currency: Currency;
    others: boolean;
    bounds: Bounds;
  },
): Figures {
  const { db, organizationId } = scope;
  const inReport = db`between ${window.from}::date and ${window.to}::date`;
  return db`
    ${fees(scope, window, bounds)}, ${cells(scope, { from: days.first, to: days.last }, bounds.dayRows)}, taken as materialized (
      select charge_id, decode(hash, 'hex') as group_hash, filter_id
      from unnest(${taken.map(({ charge_id: id }) => id)}::uuid[], ${taken.map(({ group_hash: hash }) => hash)}::text[],
        ${taken.map(({ charge_filter_id: id }) => id)}::uuid[]) as taken (charge_id, hash, filter_id)
    ), whole_day as (
      select fee.*, (window_from at time zone 'UTC')::date
          + case when window_from = date_trunc('day', window_from, 'UTC') then 0 else 1 end as first_whole,
        (window_to at time zone 'UTC')::date as next_part
      from fee where own_group is null
    ), call as (
      select fee.id, cell.day, cell.group_hash, cell.amount, cell.input_tokens + cell.output_tokens as tokens
      from whole_day fee
      join cell on cell.external_subscription_id = fee.external_subscription_id and cell.day >= fee.first_whole
        and cell.day < fee.next_part
      union all
      -- of a day that only a part of the window covers, its hours
      select fee.id, (hours.hour at time zone 'UTC')::date, hours.group_hash, hours.amount,
        hours.input_tokens + hours.output_tokens
      from whole_day fee
      join ai_usage_hours hours on hours.organization_id = ${organizationId}
        and hours.external_subscription_id = fee.external_subscription_id and hours.hour >= fee.window_from
        and hours.hour < fee.window_to
        and (hours.hour < fee.first_whole::timestamp at time zone 'UTC'
          or hours.hour >= fee.next_part::timestamp at time zone 'UTC')
    ), weighed as (
      select fee.id, call.day, call.group_hash,
        greatest(sum(case when fee.by_amount then call.amount else call.tokens end), 0) as weight
      from call
      join fee using (id)
      join ai_groups g on g.organization_id = ${organizationId} and g.group_hash = call.group_hash
      where g.code in (fee.code, '')
        and not exists (
          select from taken
          where taken.charge_id = fee.charge_id and taken.group_hash = call.group_hash
            and taken.filter_id is distinct from fee.charge_filter_id)
        and not exists (
          select from jsonb_each_text(fee.grouped_by) as by_value
          cross join lateral (
            select g.dimensions
              || jsonb_build_object('provider', g.provider, 'model', g.model, 'tier', g.tier) as names
          ) known
          where known.names ? by_value.key and known.names ->> by_value.key is distinct from by_value.value)
      group by fee.id, call.day, call.group_hash
    ), share as (
      select id, day, group_hash, case when sum(weight) over same = 0 then 1 else weight end as weight,
        case when sum(weight) over same = 0 then count(*) over same else sum(weight) over same end as whole
      from weighed
      window same as (partition by id)
    ), cut as (
      select share.id, day, group_hash, net, div(abs(net) * weight, whole) as part,
        row_number() over (partition by share.id order by mod(abs(net) * weight, whole) desc, day, group_hash) as place
      from share join fee using (id)
    ), spread as (
      select id, day, group_hash, sign(net) * (part
        + case when place <= abs(net) - sum(part) over (partition by id) then 1 else 0 end) as cents
      from cut
      union all
      -- what is billed in advance is of one call, of which the group is known
      select id, (window_from at time zone 'UTC')::date, own_group, net from fee
      where own_group is not null or not exists (select from weighed where weighed.id = fee.id)
    ), exponent as materialized (
      select * from unnest(${[...CURRENCIES]}::text[], ${CURRENCIES.map(exponentOf)}::int[])
        as exponent (currency, digits)
    ), converted as materialized (
      select spread.day, fee.external_subscription_id, fee.customer_id, fee.plan_id, spread.group_hash,
        case
          when fee.amount_currency = ${currency} then spread.cents
          when coalesce(fee.terms ->> 'amount_currency', fee.amount_currency) = ${currency}
            then trim_scale(round(spread.cents * power(10::numeric, ${exponentOf(currency)} - exponent.digits)
              / nullif(fee.terms ->> 'conversion_rate', '')::numeric, 15))
        end as revenue
      from spread
      join fee using (id)
      join exponent on exponent.currency = fee.amount_currency
      where spread.day ${inReport}
    ), figure as (
      select placed.*, 0::numeric as revenue, false as not_billed, not exists (
          select from converted
          where converted.external_subscription_id = placed.external_subscription_id and converted.day = placed.day
            and converted.group_hash = placed.group_hash) as not_invoiced
      from placed where placed.day ${inReport}
      union all
      ${parts(db`converted`, db`group_hash`)}
      ${others ? db`union all ${parts(db`(${otherFees(scope, window, currency)})`, db`null::bytea`)}` : db``}
    ), ${namesOf(scope, db`figure`)}`;

  function parts(source: Fragment, group: Fragment): Fragment {
    return db`
      select day, external_subscription_id, ${group} as group_hash, 0, 0, 0, 0, 0, 0, customer_id, plan_id, revenue,
        false, false
      from ${source} part`;
  }
}
