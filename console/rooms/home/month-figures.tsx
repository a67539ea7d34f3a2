import { changeOf, count, money } from '../../parts/amounts.ts';
import { Figure } from '../../parts/figure.tsx';
import { t } from '../../texts/en.ts';
import { type CurrencyOverview, OVERVIEW_PATH, percentOf } from './overview.ts';

/** The month in one currency. */
export function MonthFigures({ of, isAlone }: { of: CurrencyOverview; isAlone: boolean }) {
  const { currency, revenue, mrr, collection, overdue, usage_to_date_cents: usage } = of;
  const path = OVERVIEW_PATH;
  const name = (text: string) => (isAlone ? text : `${text} · ${currency}`);
  return (
    <div class="figures">
      <Figure
        label={name(t.home.revenueThisMonth)}
        value={money(revenue.month_to_date_cents, currency)}
        change={changeOf(revenue.month_to_date_cents, revenue.same_days_last_month_cents)}
        note={t.home.againstOnTheSameDays(money(revenue.same_days_last_month_cents, currency))}
        origin={{
          path,
          formula: t.home.revenueMonthToDateCents,
          answer: revenue,
        }}
      />
      <Figure
        label={name(t.home.recurringEachMonth)}
        value={money(mrr.ending, currency)}
        change={changeOf(mrr.ending, mrr.starting)}
        note={t.home.sinceTheMonthBegan}
        origin={{ path, formula: t.home.mrrEndingTheChangeIs, answer: mrr }}
      />
      <Figure
        label={name(t.home.usageThisMonth)}
        value={money(usage, currency)}
        note={t.home.notInvoicedYetOrIn}
        origin={{ path, formula: t.home.usageToDateCentsPriced }}
      />
      <Figure
        label={name(t.home.collected)}
        value={percentOf(collection.rate)}
        note={t.home.paidOpen(money(collection.succeeded_cents, currency), money(collection.pending_cents, currency))}
        origin={{
          path,
          formula: t.home.collectionRatePaidPaidOpen,
          answer: collection,
        }}
      />
      <Figure
        label={name(t.home.overdue)}
        value={money(overdue.total_cents, currency)}
        tone={overdue.total_cents > 0 ? 'bad' : undefined}
        note={
          overdue.invoices_count > 0
            ? t.home.invoicesPastTheirDueDate(count(overdue.invoices_count))
            : t.home.nothingIsPastItsDue
        }
        origin={{ path, formula: t.home.overdueTotalCentsWhatIs, answer: overdue }}
      />
    </div>
  );
}
