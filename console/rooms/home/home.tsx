import { to } from '../../frame/route.ts';
import { can, organization } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { count } from '../../parts/amounts.ts';
import { Figure } from '../../parts/figure.tsx';
import { Page, Section } from '../../parts/page.tsx';
import type { Activity, Invoice } from '../../parts/records.ts';
import { Shown } from '../../parts/states.tsx';
import { t } from '../../texts/en.ts';
import { ActivityList } from '../logs/activity-list.tsx';
import { Attention } from './attention.tsx';
import { FirstSteps } from './first-steps.tsx';
import { MonthFigures } from './month-figures.tsx';
import { Ageing, Movements } from './movements.tsx';
import { type Count, OVERVIEW_PATH, type Overview } from './overview.ts';

/** Who has as few customers, and no final invoice, is shown the way to the first one. */
const MOST_CUSTOMERS_OF_NEW = 3;

/** How is the month, and what needs me? */
export default function Home() {
  const overview = useRead<{ overview: Overview }>(can('analytic') ? OVERVIEW_PATH : null, { everySeconds: 30 });
  const activities = useRead<{ activity_logs: Activity[] }>(can('activity_log') ? '/activity_logs?per_page=20' : null, {
    everySeconds: 30,
  });
  const figures = overview.data?.overview;
  const customers = figures?.customers.count ?? 0;
  // The steps stay until the first invoice is final; with many customers, none is the work of somebody who is new.
  const mayBeNew = figures ? customers <= MOST_CUSTOMERS_OF_NEW : activities.data?.activity_logs.length === 0;
  const invoices = useRead<{ invoices: Invoice[] }>(
    mayBeNew && can('invoice') ? '/invoices?per_page=1&count=none' : null,
    { everySeconds: 30 },
  );
  const newest = invoices.data?.invoices[0];
  const isNew = mayBeNew && (!can('invoice') || invoices.data !== undefined) && newest?.status !== 'finalized';
  return (
    <Page title={organization.value?.name ?? t.home.title} under={t.home.under}>
      {isNew && <FirstSteps hasCustomers={customers > 0} newest={newest} />}
      {can('analytic') && customers > 0 && (
        <Shown of={overview}>
          {({ overview: { currencies, ...counts } }) => (
            <>
              {currencies.map((each) => (
                <MonthFigures key={each.currency} of={each} isAlone={currencies.length === 1} />
              ))}
              <div class="figures">
                <CountFigure label={t.home.customers} of={counts.customers} note={t.home.customersNote} />
                <CountFigure
                  label={t.home.activeSubscriptions}
                  of={counts.active_subscriptions}
                  note={t.home.activeSubscriptionsNote}
                />
                <CountFigure label={t.home.eventsToday} of={counts.events_today} note={t.home.eventsTodayNote} />
              </div>
            </>
          )}
        </Shown>
      )}
      <div class="columns">
        <Attention />
        {figures && customers > 0 && (
          <div>
            <Movements />
            <Ageing currencies={figures.currencies} />
          </div>
        )}
      </div>
      {can('activity_log') && (
        <Section title={t.home.activitiesTitle} more={<a href={to('logs')}>{t.home.allActivities}</a>}>
          <Shown of={activities}>{({ activity_logs }) => <ActivityList activities={activity_logs} />}</Shown>
        </Section>
      )}
    </Page>
  );
}

function CountFigure({ label, of, note }: { label: string; of: Count; note: string }) {
  return (
    <Figure
      label={label}
      value={`${count(of.count)}${of.more ? '+' : ''}`}
      note={note}
      origin={{ path: OVERVIEW_PATH, formula: t.home.countFormula, answer: of }}
    />
  );
}
