import { route, to } from '../../frame/route.ts';
import { money } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { CustomerLink } from '../../parts/customer-names.tsx';
import { Listing } from '../../parts/listing.tsx';
import { Page } from '../../parts/page.tsx';
import type { Subscription } from '../../parts/records.ts';
import { Choices } from '../../parts/table.tsx';
import { day } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import { SubscriptionPage } from './subscription.tsx';

export default function Subscriptions() {
  const { id } = route.value;
  return id === undefined ? <List /> : <SubscriptionPage key={id} externalId={id} />;
}

function List() {
  const status = route.value.query.get('status') ?? 'active';
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
      <Listing<Subscription>
        path="/subscriptions"
        root="subscriptions"
        isUncounted
        filters={{ status: [status] }}
        label={t.subscriptions.title}
        customerOf={({ external_customer_id }) => external_customer_id}
        href={({ external_id }) => to('subscriptions', external_id)}
        columns={[
          { head: t.subscriptions.subscription, cell: ({ name, external_id }) => name ?? external_id },
          { head: t.subscriptions.customerHead, cell: ({ external_customer_id: id }) => <CustomerLink id={id} /> },
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
        empty={{
          title: t.subscriptions.noneFiltered(status),
          children: (
            <p class="soft">
              {t.subscriptions.noneHint} <a href={to('customers')}>{t.subscriptions.customerLink}</a>.
            </p>
          ),
        }}
      />
    </Page>
  );
}
