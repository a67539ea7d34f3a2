import type { ComponentChildren } from 'preact';
import { to } from '../../frame/route.ts';
import { can, organization } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { CurlLine } from '../../parts/curl-line.tsx';
import { Section } from '../../parts/page.tsx';
import type { Invoice } from '../../parts/records.ts';
import { t } from '../../texts/en.ts';
import { DemoButton } from './demo-button.tsx';

const words = t.home.steps;

interface Step {
  text: string;
  done: boolean;
  content: ComponentChildren;
}

/** A new organization: the six steps from nothing to a first invoice, with what is done already. */
export function FirstSteps({ hasCustomers, newest }: { hasCustomers: boolean; newest: Invoice | undefined }) {
  const ask = (resource: string, path: string) =>
    useRead<Record<string, { svc_id: string }[]>>(can(resource) ? path : null, { everySeconds: 30 });
  const plans = ask('plan', '/plans?per_page=1&count=none').data?.plans ?? [];
  const events = ask('event', '/events?per_page=1&count=none').data?.events ?? [];
  const steps: Step[] = [
    {
      text: words.open,
      done: true,
      content: (
        <p class="soft">
          {words.openAbout} <a href="/docs">{words.openLink}</a>
        </p>
      ),
    },
    { text: words.look, done: false, content: <DemoButton /> },
    {
      text: words.price,
      done: plans.length > 0,
      content: (
        <p class="soft">
          {words.metricAbout} <a href={to('metrics')}>{words.metricLink}</a>. {words.planAbout}{' '}
          <a href={to('plans', 'new')}>{words.planLink}</a>.
        </p>
      ),
    },
    {
      text: words.usage,
      done: events.length > 0,
      content: (
        <>
          <p class="soft">
            <a href={to('customers')}>{hasCustomers ? words.customerThere : words.customerLink}</a>
            {words.customerAfter} <a href={to('events')}>{words.eventsLink}</a>
            {words.eventsAfter}
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
      text: words.time,
      done: newest !== undefined,
      content: <p class="soft">{organization.value?.sandbox ? words.timeOfSandbox : words.timeOfLive}</p>,
    },
    {
      text: words.invoice,
      done: newest?.status === 'finalized',
      content: (
        <p class="soft">
          {words.invoiceBefore}{' '}
          <a href={newest ? to('invoices', newest.svc_id) : to('invoices')}>{words.invoiceLink}</a>
          {words.invoiceAfter}
        </p>
      ),
    },
  ];
  return (
    <Section title={words.title}>
      <ol class="card steps-list">
        {steps.map(({ text, done, content }) => (
          <li key={text} class={done ? 'done' : ''}>
            <b>
              {text}
              {done && <span class="unseen">{words.done}</span>}
            </b>
            <div>{content}</div>
          </li>
        ))}
      </ol>
    </Section>
  );
}
