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
        label={name(t.home.revenue)}
        value={money(revenue.month_to_date_cents, currency)}
        change={changeOf(revenue.month_to_date_cents, revenue.same_days_last_month_cents)}
        note={t.home.revenueNote(money(revenue.same_days_last_month_cents, currency))}
        origin={{
          path,
          formula: t.home.revenueFormula,
          answer: revenue,
        }}
      />
      <Figure
        label={name(t.home.mrr)}
        value={money(mrr.ending, currency)}
        change={changeOf(mrr.ending, mrr.starting)}
        note={t.home.mrrNote}
        origin={{ path, formula: t.home.mrrFormula, answer: mrr }}
      />
      <Figure
        label={name(t.home.usage)}
        value={money(usage, currency)}
        note={t.home.usageNote}
        origin={{ path, formula: t.home.usageFormula }}
      />
      <Figure
        label={name(t.home.collected)}
        value={percentOf(collection.rate)}
        note={t.home.collectedNote(
          money(collection.succeeded_cents, currency),
          money(collection.pending_cents, currency),
        )}
        origin={{
          path,
          formula: t.home.collectedFormula,
          answer: collection,
        }}
      />
      <Figure
        label={name(t.home.overdue)}
        value={money(overdue.total_cents, currency)}
        tone={overdue.total_cents > 0 ? 'bad' : undefined}
        note={overdue.invoices_count > 0 ? t.home.overdueNote(count(overdue.invoices_count)) : t.home.nothingOverdue}
        origin={{ path, formula: t.home.overdueFormula, answer: overdue }}
      />
    </div>
  );
}
