import type { ComponentChildren } from 'preact';
import { to } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { CurlLine } from '../../parts/curl-line.tsx';
import { Section } from '../../parts/page.tsx';

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
      text: 'Say what is counted',
      done: isDone(metrics),
      content: (
        <p class="soft">
          A metric turns events into units: calls, tokens, seats, gigabytes. <a href={to('metrics')}>Make a metric</a>
        </p>
      ),
    },
    {
      text: 'Set a price',
      done: isDone(plans),
      content: (
        <p class="soft">
          A plan holds the fee of a period and what each unit costs; the calculator beside it prices as the invoice
          will. <a href={to('plans', 'new')}>Make a plan</a>
        </p>
      ),
    },
    {
      text: 'Add a customer and subscribe it',
      done: isDone(customers),
      content: (
        <p class="soft">
          <a href={to('customers')}>Make a customer</a>, then subscribe it to the plan on its page.
        </p>
      ),
    },
    {
      text: 'Send usage',
      done: isDone(events),
      content: (
        <>
          <p class="soft">
            From the <a href={to('events')}>events</a> room, or from your application:
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
      text: 'Let a month pass, and read the invoice',
      done: isDone(invoices),
      content: (
        <p class="soft">
          In a sandbox the clock at the foot of every page moves to the next month. Each line of the{' '}
          <a href={to('invoices')}>invoice</a> says why it costs what it costs.
        </p>
      ),
    },
  ];
  return (
    <Section title="From nothing to the first invoice">
      <ol class="card steps-list">
        {steps.map(({ text, done, content }) => (
          <li key={text} class={done ? 'done' : ''}>
            <b>
              {text}
              {done && <span class="unseen"> (done)</span>}
            </b>
            <div>{content}</div>
          </li>
        ))}
      </ol>
    </Section>
  );
}
