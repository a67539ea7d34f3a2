import { utcDate } from '../../../engine/calendar/instants.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { PlanId } from '../../../platform/ids.ts';
import { getPlanByCode } from '../../catalog/plans/queries.ts';
import type { PlanImpact } from './schema.ts';

/** How many records of a kind are counted. */
const MOST_COUNTED = 100_000;

/**
 * Whom a change of a plan concerns: its subscriptions and those of its overrides by status, their customers, drafts,
 * and the usage of active ones as of yesterday's snapshots. Four statements.
 *
 * @throws Refusal 404 plan
 * Rule: console-reads.md#plan-impact.
 */
export async function showPlanImpact(ctx: Context, { code }: { code: string }): Promise<PlanImpact> {
  const plan = await getPlanByCode(ctx, code);
  const yesterday = utcDate(ctx.now()).subtract({ days: 1 });
  const [subscriptions, drafts, usage] = await Promise.all([
    countSubscriptions(ctx, plan.id),
    countDrafts(ctx, plan.id),
    sumUsage(ctx, plan.id, yesterday.toString()),
  ]);
  const shown = (count: number) => ({ count: Math.min(count, MOST_COUNTED), more: count > MOST_COUNTED });
  return {
    impact: {
      active: shown(subscriptions.active),
      pending: shown(subscriptions.pending),
      incomplete: shown(subscriptions.incomplete),
      overridden: shown(subscriptions.overridden),
      customers: shown(subscriptions.customers),
      drafts: shown(drafts),
      current_usage_cents_by_currency: Object.fromEntries(
        usage.map(({ currency, amount_cents }) => [currency, amount_cents]),
      ),
      as_of: yesterday.toString(),
    },
  };
}

interface Counts {
  active: number;
  pending: number;
  incomplete: number;
  overridden: number;
  customers: number;
}

/** Subscriptions that live, of the plan and of its overrides. */
const subscriptionsOf = ({ db, organizationId }: Scope, planId: PlanId) => db`
  (select s.id, s.customer_id, s.status, plan.parent_id is not null as is_overridden
    from plans plan
    join subscriptions s on s.organization_id = plan.organization_id and s.plan_id = plan.id
    where plan.organization_id = ${organizationId} and (plan.id = ${planId} or plan.parent_id = ${planId})
      and s.status in ('active', 'pending', 'incomplete')
    limit ${MOST_COUNTED + 1})`;

async function countSubscriptions(scope: Scope, planId: PlanId): Promise<Counts> {
  const [row] = await scope.db<Counts[]>`
    select count(*) filter (where status = 'active') as active, count(*) filter (where status = 'pending') as pending,
      count(*) filter (where status = 'incomplete') as incomplete,
      count(*) filter (where is_overridden) as overridden, count(distinct customer_id) as customers
    from ${subscriptionsOf(scope, planId)} living`;
  return row!;
}

async function countDrafts(scope: Scope, planId: PlanId): Promise<number> {
  const { db, organizationId } = scope;
  const [row] = await db<{ count: number }[]>`
    select count(*) as count from (
      select distinct invoice.id
      from ${subscriptionsOf(scope, planId)} living
      join invoice_subscriptions line on line.organization_id = ${organizationId} and line.subscription_id = living.id
      join invoices invoice on invoice.organization_id = line.organization_id and invoice.id = line.invoice_id
        and invoice.status = 'draft'
      limit ${MOST_COUNTED + 1}) draft`;
  return row!.count;
}

const sumUsage = (scope: Scope, planId: PlanId, day: string) => scope.db<{ currency: string; amount_cents: number }[]>`
  select usage.amount_currency as currency, sum(usage.amount_cents)::bigint as amount_cents
  from ${subscriptionsOf(scope, planId)} living
  join daily_usages usage on usage.organization_id = ${scope.organizationId} and usage.subscription_id = living.id
    and usage.usage_date = ${day}::date
  where living.status = 'active'
  group by usage.amount_currency
  order by usage.amount_currency`;
