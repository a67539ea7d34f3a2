import type { Temporal } from 'temporal-polyfill';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { BillingEntityId, CustomerId, ExternalSubscriptionId } from '../../../platform/ids.ts';
import type { Granularity, PeriodsQuery, Stream } from './schema.ts';
import { counted, type Days, type Grain } from './totals.ts';

/** Filters of a report by periods, beside its days. */
export interface PeriodFilters {
  query: PeriodsQuery;
  days: Days;
  billingEntityId: BillingEntityId | undefined;
  grain: Grain;
}

const UNIT = { daily: 'day', weekly: 'week', monthly: 'month' } as const;

/** First day of the period that holds the day of a row; weeks begin on Monday. */
const periodOf = (db: Db, granularity: Granularity): Fragment =>
  db`date_trunc(${UNIT[granularity]}, counted.day)::date`;

/** Customers whose subscriptions have, or once had, the external id. */
export async function listCustomersOfSubscription(
  { db, organizationId }: Scope,
  externalSubscriptionId: ExternalSubscriptionId,
): Promise<string[]> {
  const rows = await db<{ customer_id: CustomerId }[]>`
    select distinct customer_id from subscriptions
    where organization_id = ${organizationId} and external_id = ${externalSubscriptionId}`;
  return rows.map(({ customer_id }) => customer_id);
}

export const sumUsage = (scope: Scope, filters: PeriodFilters) => scope.db<
  {
    start: Temporal.PlainDate;
    currency: string;
    code: string;
    is_deleted: boolean;
    amount: Decimal;
    units: Decimal;
  }[]
>`
  with ${counted(scope, 'usage', filters.days, filters.grain)}
  select ${periodOf(scope.db, filters.query.time_granularity)} as start, counted.currency, counted.code,
    metric.deleted_at is not null as is_deleted, sum(counted.amount) as amount, sum(counted.units) as units
  from counted
  join billable_metrics metric on metric.organization_id = ${scope.organizationId} and metric.id = counted.key::uuid
  where true ${narrowed(scope, filters)}
    ${recurring(scope.db, filters, (is) => scope.db`and metric.recurring = ${is}`)}
  group by 1, counted.currency, counted.code, metric.id, metric.deleted_at
  having sum(counted.entries_count) > 0
  order by 1, counted.code, counted.currency, metric.id`;

export const sumRevenueStreams = (scope: Scope, filters: PeriodFilters) => scope.db<
  { start: Temporal.PlainDate; currency: string; key: Stream; amount: Decimal }[]
>`
  with ${counted(scope, 'revenue_streams', filters.days, filters.grain)}
  select ${periodOf(scope.db, filters.query.time_granularity)} as start, counted.currency, counted.key,
    sum(counted.amount) as amount
  from counted
  where true ${narrowed(scope, filters)}
    ${recurring(
      scope.db,
      filters,
      (is) => scope.db`and counted.code in (
        select code from billable_metrics where organization_id = ${scope.organizationId} and recurring = ${is})`,
    )}
  group by 1, 2, 3
  having sum(counted.entries_count) > 0
  order by 1, 2, 3`;

export type CreditKind = 'purchased' | 'offered' | 'consumed' | 'voided';

export const sumPrepaidCredits = (scope: Scope, filters: PeriodFilters) => scope.db<
  { start: Temporal.PlainDate; currency: string; key: CreditKind; amount: Decimal; units: Decimal }[]
>`
  with ${counted(scope, 'prepaid_credits', filters.days, filters.grain)}
  select ${periodOf(scope.db, filters.query.time_granularity)} as start, counted.currency, counted.key,
    sum(counted.amount) as amount, sum(counted.units) as units
  from counted
  where true ${narrowed(scope, filters)}
  group by 1, 2, 3
  having sum(counted.entries_count) > 0
  order by 1, 2, 3`;

/** How recurring revenue moved when a month began: whole cents, each a sum over customers. */
export interface MonthMovement {
  month: Temporal.PlainDate;
  currency: string;
  started: Decimal;
  new: Decimal;
  expansion: Decimal;
  contraction: Decimal;
  churn: Decimal;
  ended: Decimal;
}

/** Movements of the months whose first days are in `months`; each customer's figure of a month is rounded first. */
export const sumMovements = (scope: Scope, filters: PeriodFilters, months: Days) => scope.db<MonthMovement[]>`
  with ${counted(scope, 'mrr', { from: months.from.subtract({ months: 1 }), to: months.to }, filters.grain)},
  monthly as (
    select counted.day, counted.currency, counted.customer_id,
      round(coalesce(sum(counted.amount) filter (where counted.key = ''), 0)
        + coalesce(sum(counted.amount) filter (where counted.key = 'weekly') * 4.33
          / nullif(sum(counted.units) filter (where counted.key = 'weekly'), 0), 0)) as cents
    from counted
    where true ${narrowed(scope, filters)}
    group by 1, 2, 3
  ), moved as (
    select coalesce(present.day, former.next_day) as month, coalesce(present.currency, former.currency) as currency,
      coalesce(former.cents, 0) as before, coalesce(present.cents, 0) as after
    from monthly present
    full join (select (day + interval '1 month')::date as next_day, currency, customer_id, cents from monthly) former
      on former.next_day = present.day and former.currency = present.currency
        and former.customer_id = present.customer_id
  )
  select month, currency, sum(before) as started,
    coalesce(sum(after) filter (where before = 0), 0) as new,
    coalesce(sum(after - before) filter (where before > 0 and after > before), 0) as expansion,
    coalesce(sum(before - after) filter (where after > 0 and after < before), 0) as contraction,
    coalesce(sum(before) filter (where after = 0), 0) as churn,
    sum(after) as ended
  from moved
  where month between ${months.from} and ${months.to}
  group by 1, 2
  having sum(before) > 0 or sum(after) > 0
  order by 1, 2`;

/** Condition of the filters on `counted`. Filters by customer and subscription need a grain that separates them. */
function narrowed({ db, organizationId }: Scope, { query, billingEntityId }: PeriodFilters): Fragment {
  const parts: Fragment[] = [];
  if (query.currency !== undefined) parts.push(db`and counted.currency = ${query.currency}`);
  if (billingEntityId !== undefined) parts.push(db`and counted.billing_entity_id = ${billingEntityId}`);
  if (query.billable_metric_code !== undefined) parts.push(db`and counted.code = ${query.billable_metric_code}`);
  const { customer_type: type, customer_country: country } = query;
  if (type !== undefined || country !== undefined)
    parts.push(db`and counted.customer_id in (
      select id from customers where organization_id = ${organizationId}
        ${type === undefined ? db`` : db`and customer_type = ${type}`}
        ${country === undefined ? db`` : db`and country = ${country}`})`);
  const { external_subscription_id: externalId, plan_code: planCode } = query;
  if (externalId !== undefined)
    parts.push(db`and counted.subscription_id in (
      select id from subscriptions where organization_id = ${organizationId} and external_id = ${externalId})`);
  if (planCode !== undefined)
    parts.push(db`and counted.subscription_id in (
      select subscription.id
      from plans plan
      join subscriptions subscription
        on subscription.organization_id = plan.organization_id and subscription.plan_id = plan.id
      where plan.organization_id = ${organizationId} and plan.code = ${planCode})`);
  return parts.reduce((all, each) => db`${all} ${each}`, db``);
}

const recurring = (db: Db, { query }: PeriodFilters, condition: (is: boolean) => Fragment): Fragment =>
  query.is_billable_metric_recurring === undefined ? db`` : condition(query.is_billable_metric_recurring);
