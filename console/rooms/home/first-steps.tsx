import type { ComponentChildren } from 'preact';
import { to } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { CurlLine } from '../../parts/curl-line.tsx';
import { Section } from '../../parts/page.tsx';
import { t } from '../../texts/en.ts';

interface Some {
  meta: { total_count: number | null };
}

/** A new organization: the way from nothing to a first invoice, with what is done already. */
export function FirstSteps() {
  const ask = (resource: string, path: string) => useRead<Some>(can(resource) ? path : null, { everySeconds: 30 });
  const metrics = ask('billable_metric', '/billable_metrics?per_page=1');
  const plans = ask('plan', '/plans?per_page=1');
  const customers = ask('customer', '/customers?per_page=1');
  const events = ask('event', '/events?per_page=1');
  const invoices = ask('invoice', '/invoices?per_page=1');
  const isDone = ({ data }: { data: Some | undefined }) => (data?.meta.total_count ?? 0) > 0;
  const steps: { text: string; done: boolean; content: ComponentChildren }[] = [
    {
      text: t.home.stepMetric,
      done: isDone(metrics),
      content: (
        <p class="soft">
          {t.home.stepMetricAbout}
          <a href={to('metrics')}>{t.home.stepMetricLink}</a>
        </p>
      ),
    },
    {
      text: t.home.stepPlan,
      done: isDone(plans),
      content: (
        <p class="soft">
          {t.home.stepPlanAbout}
          <a href={to('plans', 'new')}>{t.home.stepPlanLink}</a>
        </p>
      ),
    },
    {
      text: t.home.stepCustomer,
      done: isDone(customers),
      content: (
        <p class="soft">
          <a href={to('customers')}>{t.home.stepCustomerLink}</a>
          {t.home.stepCustomerAfter}
        </p>
      ),
    },
    {
      text: t.home.stepUsage,
      done: isDone(events),
      content: (
        <>
          <p class="soft">
            {t.home.stepUsageBefore}
            <a href={to('events')}>{t.home.stepUsageLink}</a>
            {t.home.stepUsageAfter}
          </p>
          <CurlLine
            request={{
              method: 'POST',
              path: '/events',
              body: { event: { transaction_id: 'first', external_subscription_id: 'ada-1', code: 'calls' } },
            }}
          />
        </>
      ),
    },
    {
      text: t.home.stepInvoice,
      done: isDone(invoices),
      content: (
        <p class="soft">
          {t.home.stepInvoiceBefore} <a href={to('invoices')}>{t.home.stepInvoiceLink}</a>
          {t.home.stepInvoiceAfter}
        </p>
      ),
    },
  ];
  return (
    <Section title={t.home.stepsTitle}>
      <ol class="card steps-list">
        {steps.map(({ text, done, content }) => (
          <li key={text} class={done ? 'done' : ''}>
            <b>
              {text}
              {done && <span class="unseen">{t.home.stepDone}</span>}
            </b>
            <div>{content}</div>
          </li>
        ))}
      </ol>
    </Section>
  );
}
