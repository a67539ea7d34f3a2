import { type Decimal, sum } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import { groupRows } from '../../../platform/lists/group-rows.ts';
import { getBillingEntity } from '../../customers/billing-entities/queries.ts';
import { eachMonth, monthsOf, monthText, shownCents, weeklyMrr } from './months.ts';
import {
  findCustomerId,
  type MonthFilters,
  readReporting,
  sumCollection,
  sumGrossRevenue,
  sumInvoicedUsage,
  sumMrr,
  sumOverdue,
} from './queries.ts';
import type { CustomerMonthsQuery, MonthsQuery } from './schema.ts';

/**
 * Invoiced totals less refunds, without their taxes, and fees paid in advance that are on no invoice.
 *
 * Rule: analytics.md#reports.
 */
export async function showGrossRevenue(ctx: Context, { query }: { query: CustomerMonthsQuery }) {
  const [{ filters }, customer] = await Promise.all([filtersOf(ctx, query), customerOf(ctx, query)]);
  const rows =
    customer === 'unknown' ? [] : await sumGrossRevenue(ctx, filters, customer ? { customerIds: [customer] } : 'whole');
  return {
    gross_revenues: rows.map(({ day, amount, currency, units, billing_entity_id }) => ({
      month: monthText(day),
      amount_cents: shownCents(amount),
      currency,
      invoices_count: units.toNumber(),
      billing_entity_id,
    })),
  };
}

/** Invoices by payment status; a month without any is a row of its own, unless one currency is asked for. */
export async function showInvoiceCollection(ctx: Context, { query }: { query: MonthsQuery }) {
  const { filters } = await filtersOf(ctx, query);
  const ofMonths = groupRows(await sumCollection(ctx, filters), ({ day }) => String(day));
  return {
    invoice_collections: [...eachMonth(filters.days)].flatMap((month) => {
      const rows = ofMonths.get(String(month)) ?? [];
      if (rows.length === 0 && query.currency === undefined)
        return [{ month: monthText(month), invoices_count: 0, amount_cents: 0 }];
      return rows.map(({ key, amount, units, currency }) => ({
        month: monthText(month),
        payment_status: key,
        invoices_count: units.toNumber(),
        amount_cents: shownCents(amount),
        currency,
      }));
    }),
  };
}

/** Usage fees less their coupons, by metric: the newest month first, in it the greatest amount. */
export async function showInvoicedUsage(ctx: Context, { query }: { query: MonthsQuery }) {
  const { filters } = await filtersOf(ctx, query);
  const rows = await sumInvoicedUsage(ctx, filters);
  return {
    invoiced_usages: rows.map(({ day, code, currency, amount }) => ({
      month: monthText(day),
      code,
      currency,
      amount_cents: shownCents(amount),
    })),
  };
}

/** Subscription fees, spread over the months of their interval. Rule: analytics.md#recurring-revenue. */
export async function showMrr(ctx: Context, { query }: { query: MonthsQuery }) {
  const { filters, defaultCurrency } = await filtersOf(ctx, query);
  const ofMonths = groupRows(await sumMrr(ctx, filters), ({ day }) => String(day));
  return {
    mrrs: [...eachMonth(filters.days)].flatMap((month) => {
      const byCurrency = groupRows(ofMonths.get(String(month)) ?? [], ({ currency }) => currency);
      if (byCurrency.size === 0)
        return [{ month: monthText(month), amount_cents: 0, currency: query.currency ?? defaultCurrency }];
      return [...byCurrency].map(([currency, rows]) => ({
        month: monthText(month),
        amount_cents: shownCents(sum(rows.map(recurring))),
        currency,
      }));
    }),
  };
}

/** Monthly revenue of a sum of subscription fees, of which weekly ones are apart. */
export const recurring = ({ key, amount, units }: { key: string; amount: Decimal; units: Decimal }): Decimal =>
  key === 'weekly' ? weeklyMrr(amount, units) : amount;

/** What is owed on overdue invoices, by the month in which it was due. */
export async function showOverdueBalance(ctx: Context, { query }: { query: CustomerMonthsQuery }) {
  const [{ filters }, customer] = await Promise.all([filtersOf(ctx, query), customerOf(ctx, query)]);
  const rows = customer === 'unknown' ? [] : await sumOverdue(ctx, filters, customer);
  return {
    overdue_balances: rows.map(({ day, amount, currency, ids, billing_entity_id }) => ({
      month: monthText(day),
      amount_cents: shownCents(amount),
      currency,
      svc_invoice_ids: ids,
      billing_entity_id,
    })),
  };
}

/** @throws Refusal 404 billing_entity */
async function filtersOf(
  ctx: Context,
  { currency, months, billing_entity_code: code }: MonthsQuery,
): Promise<{ filters: MonthFilters; defaultCurrency: string }> {
  const [{ created_at, default_currency }, entity] = await Promise.all([
    readReporting(ctx),
    code === undefined ? undefined : getBillingEntity(ctx, code),
  ]);
  return {
    filters: { days: monthsOf(ctx.now(), months, created_at), currency, billingEntityId: entity?.id },
    defaultCurrency: default_currency,
  };
}

/** Only for live customers; there is nothing to report about others. */
async function customerOf(
  ctx: Context,
  { external_customer_id: externalId }: CustomerMonthsQuery,
): Promise<string | 'unknown' | undefined> {
  if (externalId === undefined) return undefined;
  return (await findCustomerId(ctx, externalId)) ?? 'unknown';
}
