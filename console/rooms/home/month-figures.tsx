import { changeOf, count, money } from '../../parts/amounts.ts';
import { Figure } from '../../parts/figure.tsx';
import { type CurrencyOverview, OVERVIEW_PATH, percentOf } from './overview.ts';

/** The month in one currency. */
export function MonthFigures({ of, isAlone }: { of: CurrencyOverview; isAlone: boolean }) {
  const { currency, revenue, mrr, collection, overdue, usage_to_date_cents: usage } = of;
  const path = OVERVIEW_PATH;
  const name = (text: string) => (isAlone ? text : `${text} · ${currency}`);
  return (
    <div class="figures">
      <Figure
        label={name('Revenue this month')}
        value={money(revenue.month_to_date_cents, currency)}
        change={changeOf(revenue.month_to_date_cents, revenue.same_days_last_month_cents)}
        note={`against ${money(revenue.same_days_last_month_cents, currency)} on the same days of last month`}
        origin={{
          path,
          formula:
            'revenue.month_to_date_cents: net revenue from the first of this month to today (UTC). The change is against ' +
            'revenue.same_days_last_month_cents.',
          answer: revenue,
        }}
      />
      <Figure
        label={name('Recurring each month')}
        value={money(mrr.ending, currency)}
        change={changeOf(mrr.ending, mrr.starting)}
        note="since the month began"
        origin={{ path, formula: 'mrr.ending; the change is against mrr.starting.', answer: mrr }}
      />
      <Figure
        label={name('Usage this month')}
        value={money(usage, currency)}
        note="not invoiced yet, or in advance"
        origin={{ path, formula: 'usage_to_date_cents: priced usage of the days of this month.' }}
      />
      <Figure
        label={name('Collected')}
        value={percentOf(collection.rate)}
        note={`${money(collection.succeeded_cents, currency)} paid, ${money(collection.pending_cents, currency)} open`}
        origin={{
          path,
          formula: 'collection.rate: paid ÷ (paid + open + failed) of the invoices of this month.',
          answer: collection,
        }}
      />
      <Figure
        label={name('Overdue')}
        value={money(overdue.total_cents, currency)}
        tone={overdue.total_cents > 0 ? 'bad' : undefined}
        note={
          overdue.invoices_count > 0
            ? `${count(overdue.invoices_count)} invoices past their due date`
            : 'nothing is past its due date'
        }
        origin={{ path, formula: 'overdue.total_cents: what is due of invoices that are overdue.', answer: overdue }}
      />
    </div>
  );
}
