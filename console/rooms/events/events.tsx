import { route, searchOf, setFilters, to } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { Action } from '../../parts/form.tsx';
import { Page } from '../../parts/page.tsx';
import { RecordFilter } from '../../parts/record-filter.tsx';
import { metrics, subscriptions } from '../../parts/sources.ts';
import { Empty, Shown } from '../../parts/states.tsx';
import { Choices, type PageMeta, Pager, Table } from '../../parts/table.tsx';
import { Ago, When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import { EventPage } from './event.tsx';
import { SendEvent } from './send-event.tsx';
import { Unmatched } from './unmatched.tsx';
import { EventVolume } from './volume.tsx';

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
      title={t.events.title}
      under={t.events.under}
      actions={
        can('event', 'write') && (
          <Action text={t.events.sendTitle} isMain>
            {(close) => <SendEvent onClose={close} />}
          </Action>
        )
      }
    >
      <div class="bar">
        <Choices
          label={t.events.which}
          name="show"
          options={[
            ['', t.events.all],
            ['unmatched', t.events.notBilled],
          ]}
        />
        {!isUnmatched && (
          <>
            <RecordFilter label={t.events.subscription} name="subscription" from={subscriptions} />
            <RecordFilter label={t.events.metric} name="code" from={metrics} />
          </>
        )}
      </div>
      {isUnmatched ? (
        <Unmatched />
      ) : (
        <>
          <EventVolume />
          <List />
        </>
      )}
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
          <Empty title={query.size > 0 ? t.events.noneFiltered : t.events.none}>
            {query.size > 0 ? (
              <button type="button" onClick={() => setFilters({ subscription: undefined, code: undefined })}>
                {t.events.showAll}
              </button>
            ) : (
              <p class="soft">{t.events.noneHint}</p>
            )}
          </Empty>
        ) : (
          <>
            <Table
              label={t.events.title}
              rows={events}
              keyOf={({ svc_id }) => svc_id}
              href={({ transaction_id }) => to('events', transaction_id)}
              columns={[
                { head: t.events.transactionId, cell: ({ transaction_id }) => <code>{transaction_id}</code> },
                { head: t.events.metric, cell: ({ code }) => code },
                {
                  head: t.events.subscription,
                  cell: ({ external_subscription_id: id }) => <a href={to('subscriptions', id)}>{id}</a>,
                },
                { head: t.events.timeOfUse, cell: ({ timestamp }) => <When at={timestamp} /> },
                { head: t.events.stored, cell: ({ created_at }) => <Ago at={created_at} />, isExtra: true },
                {
                  head: t.events.properties,
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
