import { to } from '../../frame/route.ts';
import { useRead } from '../../frame/use-read.ts';
import { copyText, Id } from '../../parts/copy.tsx';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { Shown } from '../../parts/states.tsx';
import { When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import type { Event } from './events.tsx';
import { EventTrace } from './trace.tsx';

/** One event by its transaction id, with all that was sent. */
export function EventPage({ transactionId }: { transactionId: string }) {
  const reading = useRead<{ event: Event }>(`/events/${encodeURIComponent(transactionId)}`);
  return (
    <Shown of={reading}>
      {({ event }) => (
        <Page
          title={event.transaction_id}
          back={{ href: to('events'), text: t.events.title }}
          under={
            <>
              {event.code}
              {t.events.ofSubscription}{' '}
              <a href={to('subscriptions', event.external_subscription_id)}>{event.external_subscription_id}</a>
            </>
          }
          actions={
            <button type="button" onClick={() => void copyText(factsOf(event))}>
              {t.events.copyForCustomer}
            </button>
          }
        >
          <div class="card padded">
            <Facts
              of={[
                [t.events.timeOfUse, <When at={event.timestamp} />],
                [t.events.stored, <When at={event.created_at} />],
                [t.events.metric, <a href={to('metrics', event.code)}>{event.code}</a>],
                [t.events.id, <Id of={event.svc_id} />],
              ]}
            />
          </div>
          <EventTrace transactionId={event.transaction_id} subscription={event.external_subscription_id} />
          <Section title={t.events.properties}>
            <pre class="json">{JSON.stringify(event.properties, null, 2)}</pre>
          </Section>
        </Page>
      )}
    </Shown>
  );
}

const factsOf = (event: Event): string =>
  [
    t.events.copiedHead(event.transaction_id),
    `Metric: ${event.code}`,
    `Subscription: ${event.external_subscription_id}`,
    t.events.copiedTime(event.timestamp),
    `Stored: ${event.created_at}`,
    `Properties: ${JSON.stringify(event.properties)}`,
  ].join('\n');
