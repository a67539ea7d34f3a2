import { type Cents, cents, sumCents, ZERO_CENTS } from '../../../engine/money/cents.ts';
import { sum } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import { getBillingEntity } from '../../customers/billing-entities/queries.ts';
import { recurring } from '../analytics/by-month.ts';
import { shownCents } from '../analytics/months.ts';
import { type PeriodFilters, sumRevenueStreams, sumUsage } from '../analytics/period-queries.ts';
import { type PaymentStatus, readReporting, sumCollection, sumMrr } from '../analytics/queries.ts';
import { PeriodsQuery } from '../analytics/schema.ts';
import type { Days } from '../analytics/totals.ts';
import { collectionRate, netRevenue, windowsAt } from './figures.ts';
import { countRecords, type OverdueRow, sumAgeing } from './queries.ts';
import { AGEING, type Overview, type OverviewQuery } from './schema.ts';

/**
 * How the month is going: by currency revenue, recurring revenue, collection, what is overdue, and usage; and how many
 * customers, subscriptions and events there are. Eight statements at most, of the sums that reports keep.
 *
 * @throws Refusal 404 billing_entity
 * Rule: console-reads.md#overview.
 */
export async function showOverview(ctx: Context, { query }: { query: OverviewQuery }): Promise<Overview> {
  const { billing_entity_code: code } = query;
  const billingEntityId = code === undefined ? undefined : (await getBillingEntity(ctx, code)).id;
  const { monthToDate, sameDaysLastMonth, lastMonth } = windowsAt(ctx.now());
  const ofPeriod = (time_granularity: 'daily' | 'monthly', days: Days): PeriodFilters => ({
    query: PeriodsQuery.parse({ time_granularity }),
    days,
    billingEntityId,
    grain: 'whole',
  });
  const ofMonths = (days: Days) => ({ days, currency: undefined, billingEntityId });
  const thisMonth = { from: monthToDate.from, to: monthToDate.from };
  const [{ default_currency }, streams, mrr, collection, overdue, usage, counts] = await Promise.all([
    readReporting(ctx),
    sumRevenueStreams(ctx, ofPeriod('daily', { from: lastMonth.from, to: monthToDate.to })),
    sumMrr(ctx, ofMonths({ from: lastMonth.from, to: monthToDate.from })),
    sumCollection(ctx, ofMonths(thisMonth)),
    sumAgeing(ctx, billingEntityId),
    sumUsage(ctx, ofPeriod('monthly', monthToDate)),
    countRecords(ctx),
  ]);
  const of = <Row extends { currency: string }>(rows: readonly Row[], currency: string) =>
    rows.filter((row) => row.currency === currency);
  const all = [streams, mrr, collection, overdue, usage].flatMap((rows) => rows.map(({ currency }) => currency));
  return {
    overview: {
      currencies: inOrder(default_currency, all).map((currency) => {
        const revenue = of(streams, currency);
        const mrrOf = (month: Days['from']): Cents =>
          shownCents(
            sum(
              of(mrr, currency)
                .filter(({ day }) => day.equals(month))
                .map(recurring),
            ),
          );
        const collected = (status: PaymentStatus): Cents =>
          shownCents(
            sum(
              of(collection, currency)
                .filter(({ key }) => key === status)
                .map(({ amount }) => amount),
            ),
          );
        const amounts = {
          succeeded: collected('succeeded'),
          pending: collected('pending'),
          failed: collected('failed'),
        };
        return {
          currency,
          revenue: {
            month_to_date_cents: netRevenue(revenue, monthToDate),
            same_days_last_month_cents: netRevenue(revenue, sameDaysLastMonth),
            last_month_cents: netRevenue(revenue, lastMonth),
          },
          mrr: { starting: mrrOf(lastMonth.from), ending: mrrOf(monthToDate.from) },
          collection: {
            succeeded_cents: amounts.succeeded,
            pending_cents: amounts.pending,
            failed_cents: amounts.failed,
            rate: collectionRate(amounts),
          },
          overdue: overdueView(of(overdue, currency)),
          usage_to_date_cents: sumCents(of(usage, currency).map(({ amount }) => shownCents(amount))),
        };
      }),
      ...counts,
    },
  };
}

/** The organization's currency first, then alphabetical. */
const inOrder = (first: string, currencies: readonly string[]): string[] => [
  first,
  ...[...new Set(currencies)].filter((currency) => currency !== first).sort(),
];

function overdueView(rows: readonly OverdueRow[]) {
  const amountOf = (age: OverdueRow['ageing']): Cents =>
    cents(rows.find(({ ageing }) => ageing === age)?.amount_cents ?? ZERO_CENTS);
  return {
    total_cents: sumCents(AGEING.map(amountOf)),
    invoices_count: rows.reduce((total, { invoices_count }) => total + invoices_count, 0),
    ageing: Object.fromEntries(AGEING.map((age) => [age, amountOf(age)])) as Record<OverdueRow['ageing'], Cents>,
  };
}
