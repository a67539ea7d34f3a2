import { to } from '../../frame/route.ts';
import { can, organization } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { count } from '../../parts/amounts.ts';
import { Figure } from '../../parts/figure.tsx';
import { Page, Section } from '../../parts/page.tsx';
import type { Activity } from '../../parts/records.ts';
import { Shown } from '../../parts/states.tsx';
import { ActivityList } from '../logs/activity-list.tsx';
import { Attention } from './attention.tsx';
import { FirstSteps } from './first-steps.tsx';
import { MonthFigures } from './month-figures.tsx';
import { Ageing, Movements } from './movements.tsx';
import { type Count, OVERVIEW_PATH, type Overview } from './overview.ts';

/** How is the month, and what needs me? */
export default function Home() {
  const overview = useRead<{ overview: Overview }>(can('analytic') ? OVERVIEW_PATH : null, { everySeconds: 30 });
  const activities = useRead<{ activity_logs: Activity[] }>(can('activity_log') ? '/activity_logs?per_page=20' : null, {
    everySeconds: 30,
  });
  const figures = overview.data?.overview;
  const isNew = figures ? figures.customers.count === 0 : activities.data?.activity_logs.length === 0;
  return (
    <Page title={organization.value?.name ?? 'Home'} under="How the month is going, and what needs you.">
      {isNew && <FirstSteps />}
      {can('analytic') && !isNew && (
        <Shown of={overview}>
          {({ overview: { currencies, ...counts } }) => (
            <>
              {currencies.map((each) => (
                <MonthFigures key={each.currency} of={each} isAlone={currencies.length === 1} />
              ))}
              <div class="figures">
                <CountFigure label="Customers" of={counts.customers} note="that are not deleted" />
                <CountFigure label="Active subscriptions" of={counts.active_subscriptions} note="at this moment" />
                <CountFigure label="Events today" of={counts.events_today} note="stored since midnight, UTC" />
              </div>
            </>
          )}
        </Shown>
      )}
      <div class="columns">
        <Attention />
        {figures && !isNew && (
          <div>
            <Movements />
            <Ageing currencies={figures.currencies} />
          </div>
        )}
      </div>
      {can('activity_log') && (
        <Section title="What happened last" more={<a href={to('logs')}>All activities</a>}>
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
      origin={{ path: OVERVIEW_PATH, formula: 'count of the answer; it stops at 10,000.', answer: of }}
    />
  );
}
