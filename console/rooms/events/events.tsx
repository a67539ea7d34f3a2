import { route, searchOf, setFilters, to } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { Action } from '../../parts/form.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Shown } from '../../parts/states.tsx';
import { Choices, type PageMeta, Pager, SearchField, Table } from '../../parts/table.tsx';
import { Ago, When } from '../../parts/times.tsx';
import { EventPage } from './event.tsx';
import { SendEvent } from './send-event.tsx';
import { Unmatched } from './unmatched.tsx';

export interface Event {
  svc_id: string;
  transaction_id: string;
  code: string;
  timestamp: string;
  properties: Record<string, unknown>;
  external_subscription_id: string;
  created_at: string;
}

export default function Events() {
  const { id } = route.value;
  return id === undefined ? <Explorer /> : <EventPage key={id} transactionId={id} />;
}

/** Did it arrive? */
function Explorer() {
  const { query } = route.value;
  const isUnmatched = query.get('show') === 'unmatched';
  return (
    <Page
      title="Events"
      under="What arrived, newest first. The list is read again every 5 seconds."
      actions={
        can('event', 'write') && (
          <Action text="Send an event" isMain>
            {(close) => <SendEvent onClose={close} />}
          </Action>
        )
      }
    >
      <div class="bar">
        <Choices
          label="Which events"
          name="show"
          options={[
            ['', 'All'],
            ['unmatched', 'Not billed'],
          ]}
        />
        {!isUnmatched && (
          <>
            <SearchField label="Subscription" name="subscription" />
            <SearchField label="Metric code" name="code" />
          </>
        )}
      </div>
      {isUnmatched ? <Unmatched /> : <List />}
    </Page>
  );
}

function List() {
  const { query } = route.value;
  const list = useRead<{ events: Event[]; meta: PageMeta }>(
    `/events${searchOf({
      per_page: 25,
      page: query.get('page') ?? 1,
      external_subscription_id: query.get('subscription'),
      code: query.get('code'),
    })}`,
    { everySeconds: 5 },
  );
  return (
    <Shown of={list} rows={10}>
      {({ events, meta }) =>
        events.length === 0 ? (
          <Empty title={query.size > 0 ? 'No event is like that' : 'No events yet'}>
            {query.size > 0 ? (
              <button type="button" onClick={() => setFilters({ subscription: undefined, code: undefined })}>
                Show all events
              </button>
            ) : (
              <p class="soft">Send one from here, or from your application; it shows within seconds.</p>
            )}
          </Empty>
        ) : (
          <>
            <Table
              label="Events"
              rows={events}
              keyOf={({ svc_id }) => svc_id}
              href={({ transaction_id }) => to('events', transaction_id)}
              columns={[
                { head: 'Transaction id', cell: ({ transaction_id }) => <code>{transaction_id}</code> },
                { head: 'Metric', cell: ({ code }) => code },
                {
                  head: 'Subscription',
                  cell: ({ external_subscription_id: id }) => <a href={to('subscriptions', id)}>{id}</a>,
                },
                { head: 'Time of use', cell: ({ timestamp }) => <When at={timestamp} /> },
                { head: 'Stored', cell: ({ created_at }) => <Ago at={created_at} />, isExtra: true },
                {
                  head: 'Properties',
                  cell: ({ properties }) => <code>{JSON.stringify(properties).slice(0, 80)}</code>,
                  isExtra: true,
                },
              ]}
            />
            <Pager meta={meta} />
          </>
        )
      }
    </Shown>
  );
}
