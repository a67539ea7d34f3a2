import type { Temporal } from 'temporal-polyfill';
import { isDateAfter, utcDate } from '../../../engine/calendar/instants.ts';
import { type Cents, cents, sumCents, ZERO_CENTS } from '../../../engine/money/cents.ts';
import { decimalText, ZERO } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import { groupRows } from '../../../platform/lists/group-rows.ts';
import { refuse } from '../../../platform/refusal.ts';
import { getBillingEntity } from '../../customers/billing-entities/queries.ts';
import { shownCents } from './months.ts';
import { movementsOf } from './movements.ts';
import {
  type CreditKind,
  listCustomersOfSubscription,
  type PeriodFilters,
  sumMovements,
  sumPrepaidCredits,
  sumRevenueStreams,
  sumUsage,
} from './period-queries.ts';
import { daysOf, earlierDay, periodEnd } from './periods.ts';
import { findCustomerId } from './queries.ts';
import { type PeriodsQuery, STREAMS, type Stream } from './schema.ts';
import type { Grain } from './totals.ts';

/** Usage added by the daily snapshots, by metric. Rule: analytics.md#usage-and-extra-reports. */
export async function showUsage(ctx: Context, { query }: { query: PeriodsQuery }) {
  const filters = await filtersOf(ctx, query);
  const rows = filters === undefined ? [] : await sumUsage(ctx, filters);
  return {
    usages: rows.map(({ start, currency, code, is_deleted, amount, units }) => ({
      ...periodView(ctx, query, start, currency),
      amount_cents: shownCents(amount),
      billable_metric_code: code,
      units: decimalText(units),
      is_billable_metric_deleted: is_deleted,
    })),
  };
}

/**
 * Sources and reductions of revenue, from finalized invoices by issuing date.
 * Rule: analytics.md#usage-and-extra-reports.
 */
export async function showRevenueStreams(ctx: Context, { query }: { query: PeriodsQuery }) {
  const filters = await filtersOf(ctx, query);
  const rows = filters === undefined ? [] : await sumRevenueStreams(ctx, filters);
  const periods = [...groupRows(rows, ({ start, currency }) => `${start} ${currency}`).values()];
  return {
    revenue_streams: periods.map((ofPeriod) => {
      const amounts = new Map(ofPeriod.map(({ key, amount }) => [key, shownCents(amount)]));
      const of = (stream: Stream): Cents => amounts.get(stream) ?? ZERO_CENTS;
      const gross = sumCents([of('usage_based_fee'), of('subscription_fee'), of('commitment_fee'), of('one_off_fee')]);
      const contra = sumCents([of('coupons'), of('credit_notes_credits'), of('free_credits')]);
      return {
        ...periodView(ctx, query, ofPeriod[0]!.start, ofPeriod[0]!.currency),
        ...Object.fromEntries(STREAMS.map((stream) => [`${stream}_amount_cents`, of(stream)])),
        contra_revenue_amount_cents: contra,
        gross_revenue_amount_cents: gross,
        net_revenue_amount_cents: cents(gross - contra),
      };
    }),
  };
}

const CREDIT_KINDS: readonly CreditKind[] = ['purchased', 'offered', 'consumed', 'voided'];

/**
 * Settled transactions of wallets: amounts in main units, and credits.
 *
 * @throws Refusal 422 unsupported_value on a filter of subscriptions or metrics: credits belong to customers
 */
export async function showPrepaidCredits(ctx: Context, { query }: { query: PeriodsQuery }) {
  refuseFilters(query, ['external_subscription_id', 'plan_code', ...METRIC_FILTERS]);
  const filters = await filtersOf(ctx, query);
  const rows = filters === undefined ? [] : await sumPrepaidCredits(ctx, filters);
  const periods = [...groupRows(rows, ({ start, currency }) => `${start} ${currency}`).values()];
  return {
    prepaid_credits: periods.map((ofPeriod) => ({
      ...periodView(ctx, query, ofPeriod[0]!.start, ofPeriod[0]!.currency),
      ...Object.fromEntries(
        CREDIT_KINDS.flatMap((kind) => {
          const { amount = ZERO, units = ZERO } = ofPeriod.find(({ key }) => key === kind) ?? {};
          return [
            [`${kind}_amount`, decimalText(amount)],
            [`${kind}_credits_quantity`, decimalText(units)],
          ];
        }),
      ),
    })),
  };
}

/**
 * How recurring revenue moved: customers that came, grew, shrank and left.
 *
 * @throws Refusal 422 unsupported_value on a filter of metrics: they have no part in recurring revenue
 */
export async function showMrrMovements(ctx: Context, { query }: { query: PeriodsQuery }) {
  refuseFilters(query, METRIC_FILTERS);
  const filters = await filtersOf(ctx, query, 'each');
  if (filters === undefined) return { mrr_movements: [] };
  const days = { from: filters.days.from, to: earlierDay(filters.days.to, utcDate(ctx.now())) };
  if (isDateAfter(days.from, days.to)) return { mrr_movements: [] };
  // A period starts with the revenue of the day before it, and the first period may begin before the requested days.
  const months = { from: days.from.subtract({ days: 6 }).with({ day: 1 }), to: days.to.with({ day: 1 }) };
  const rows = await sumMovements(ctx, filters, months);
  const movements = [...groupRows(rows, ({ currency }) => currency)].flatMap(([currency, ofCurrency]) =>
    movementsOf(ofCurrency, days, query.time_granularity).map((movement) => ({ currency, movement })),
  );
  return {
    mrr_movements: movements
      .sort((a, b) => order(String(a.movement.start), String(b.movement.start)) || order(a.currency, b.currency))
      .map(({ currency, movement: { start, ...figures } }) => ({
        ...periodView(ctx, query, start, currency),
        ...figures,
      })),
  };
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const METRIC_FILTERS = ['is_billable_metric_recurring', 'billable_metric_code'] as const;

function refuseFilters(query: PeriodsQuery, names: readonly (keyof PeriodsQuery)[]): void {
  const faults = names.filter((name) => query[name] !== undefined).map((name) => [name, ['unsupported_value']]);
  if (faults.length > 0) throw refuse.invalid(Object.fromEntries(faults));
}

const periodView = (
  { organizationId }: Context,
  { time_granularity }: PeriodsQuery,
  start: Temporal.PlainDate,
  currency: string,
) => ({
  organization_id: organizationId,
  start_of_period_dt: String(start),
  end_of_period_dt: String(periodEnd(start, time_granularity)),
  amount_currency: currency,
});

/** @returns undefined when no live customer has the requested external id @throws Refusal 404 billing_entity */
async function filtersOf(
  ctx: Context,
  query: PeriodsQuery,
  unfiltered: 'whole' | 'each' = 'whole',
): Promise<PeriodFilters | undefined> {
  const { billing_entity_code: code } = query;
  const [grain, entity] = await Promise.all([
    grainOf(ctx, query, unfiltered),
    code === undefined ? undefined : getBillingEntity(ctx, code),
  ]);
  return grain && { query, days: daysOf(query, ctx.now()), billingEntityId: entity?.id, grain };
}

async function grainOf(ctx: Context, query: PeriodsQuery, unfiltered: 'whole' | 'each'): Promise<Grain | undefined> {
  const { external_customer_id: customer, external_subscription_id: subscription } = query;
  if (customer !== undefined) {
    const id = await findCustomerId(ctx, customer);
    return id === undefined ? undefined : { customerIds: [id] };
  }
  if (subscription !== undefined) return { customerIds: await listCustomersOfSubscription(ctx, subscription) };
  const tellsCustomersApart = [query.customer_type, query.customer_country, query.plan_code];
  return tellsCustomersApart.some((filter) => filter !== undefined) ? 'each' : unfiltered;
}
