import { route, searchOf, to } from '../../frame/route.ts';
import { useRead } from '../../frame/use-read.ts';
import { money } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { Page } from '../../parts/page.tsx';
import type { Subscription } from '../../parts/records.ts';
import { Empty, Shown } from '../../parts/states.tsx';
import { Choices, type PageMeta, Pager, Table } from '../../parts/table.tsx';
import { day } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import { SubscriptionPage } from './subscription.tsx';

export default function Subscriptions() {
  const { id } = route.value;
  return id === undefined ? <List /> : <SubscriptionPage key={id} externalId={id} />;
}

function List() {
  const { query } = route.value;
  const status = query.get('status') ?? 'active';
  const list = useRead<{ subscriptions: Subscription[]; meta: PageMeta }>(
    `/subscriptions${searchOf({ per_page: 25, page: query.get('page') ?? 1, status: [status] })}`,
  );
  return (
    <Page title={t.subscriptions.title}>
      <div class="bar">
        <Choices
          label={t.subscriptions.which}
          name="status"
          options={[
            ['', t.subscriptions.active],
            ['pending', t.subscriptions.pending],
            ['terminated', t.subscriptions.terminated],
            ['canceled', t.subscriptions.canceled],
          ]}
        />
      </div>
      <Shown of={list} rows={8}>
        {({ subscriptions, meta }) =>
          subscriptions.length === 0 ? (
            <Empty title={t.subscriptions.noneFiltered(status)}>
              <p class="soft">
                {t.subscriptions.noneHint} <a href={to('customers')}>{t.subscriptions.customerLink}</a>.
              </p>
            </Empty>
          ) : (
            <>
              <Table
                label={t.subscriptions.title}
                rows={subscriptions}
                keyOf={({ svc_id }) => svc_id}
                href={({ external_id }) => to('subscriptions', external_id)}
                columns={[
                  { head: t.subscriptions.subscription, cell: ({ name, external_id }) => name ?? external_id },
                  {
                    head: t.subscriptions.customerHead,
                    cell: ({ external_customer_id: id }) => <a href={to('customers', id)}>{id}</a>,
                  },
                  {
                    head: t.subscriptions.plan,
                    cell: ({ plan_code }) => <a href={to('plans', plan_code)}>{plan_code}</a>,
                  },
                  { head: t.subscriptions.state, cell: (each) => <Badge of={each.status} /> },
                  {
                    head: t.subscriptions.periodFee,
                    cell: (each) => money(each.plan_amount_cents, each.plan_amount_currency),
                    isNumber: true,
                    isExtra: true,
                  },
                  { head: t.subscriptions.sinceHead, cell: ({ started_at }) => day(started_at), isExtra: true },
                  {
                    head: t.subscriptions.periodEnds,
                    cell: ({ current_billing_period_ending_at: end }) => day(end),
                    isExtra: true,
                  },
                ]}
              />
              <Pager meta={meta} />
            </>
          )
        }
      </Shown>
    </Page>
  );
}
