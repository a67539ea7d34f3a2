import { route, to } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { count, money } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { CustomerLink } from '../../parts/customer-names.tsx';
import { Listing } from '../../parts/listing.tsx';
import { Offers } from '../../parts/offers.tsx';
import { Page } from '../../parts/page.tsx';
import { RecordFilter } from '../../parts/record-filter.tsx';
import { customerName } from '../../parts/records.ts';
import { customers } from '../../parts/sources.ts';
import { Choices, type Column } from '../../parts/table.tsx';
import { day, When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import { PAYMENT_COLUMNS } from '../customers/payments.tsx';
import { Inbound } from './inbound.tsx';
import { PaymentPage } from './payment.tsx';
import { RequestPage } from './payment-request.tsx';
import type { Payment, PaymentRequest } from './records.ts';
import { requestsPayment } from './request-payment.tsx';

const words = t.payments;

export default function Payments() {
  const { id, tab } = route.value;
  if (id === undefined) return <List />;
  return tab === 'request' ? <RequestPage key={id} id={id} /> : <PaymentPage key={id} id={id} />;
}

/** Who must be chased? */
function List() {
  const show = route.value.query.get('show') ?? '';
  return (
    <Page title={words.title} under={words.under} actions={<Offers of={[requestsPayment()]} />}>
      <div class="bar">
        <Choices
          label={words.which}
          name="show"
          options={[
            ['', words.title],
            ...(can('payment_request') ? [['requests', words.requests] as const] : []),
            ...(can('dunning_campaign') ? [['campaigns', words.campaigns] as const] : []),
            ...(can('payment_provider') ? [['inbound', words.inbound] as const] : []),
          ]}
        />
      </div>
      {show === '' && <PaymentList />}
      {show === 'requests' && <RequestList />}
      {show === 'campaigns' && <CampaignList />}
      {show === 'inbound' && <Inbound />}
    </Page>
  );
}

const BY_CUSTOMER: Column<Payment> = {
  head: words.customer,
  cell: ({ external_customer_id: id }) => <CustomerLink id={id} />,
};

function PaymentList() {
  const { query } = route.value;
  const status = query.get('status') ?? '';
  const [when, paidFor, ...others] = PAYMENT_COLUMNS;
  return (
    <>
      <div class="bar">
        <Choices
          label={words.state}
          name="status"
          options={[
            ['', t.list.all],
            ['failed', words.failed],
            ['pending', words.pending],
            ['succeeded', words.succeeded],
          ]}
        />
        <RecordFilter label={words.customer} name="customer" from={customers} />
      </div>
      <Listing<Payment>
        path="/payments"
        root="payments"
        isUncounted
        filters={{
          external_customer_id: query.get('customer'),
          ...(status === '' ? {} : { payment_statuses: [status] }),
        }}
        label={words.title}
        customerOf={({ external_customer_id }) => external_customer_id}
        columns={[when!, BY_CUSTOMER, { ...paidFor!, isExtra: true }, ...others]}
        href={({ svc_id }) => to('payments', svc_id)}
        empty={{ title: words.none, children: <p class="soft">{words.noneHint}</p> }}
      />
    </>
  );
}

function RequestList() {
  const { query } = route.value;
  return (
    <>
      <div class="bar">
        <Choices
          label={words.state}
          name="status"
          options={[
            ['', t.list.all],
            ['pending', words.open],
            ['failed', words.failed],
            ['succeeded', words.paid],
          ]}
        />
      </div>
      <Listing<PaymentRequest>
        path="/payment_requests"
        root="payment_requests"
        isUncounted
        filters={{ payment_status: query.get('status') }}
        label={words.requests}
        columns={[
          { head: words.asked, cell: ({ created_at }) => <When at={created_at} /> },
          {
            head: words.customer,
            cell: ({ customer }) => <a href={to('customers', customer.external_id)}>{customerName(customer)}</a>,
          },
          { head: words.invoices, cell: ({ invoices }) => count(invoices.length), isNumber: true, isExtra: true },
          {
            head: words.campaign,
            cell: ({ dunning_campaign_code: code }) => code ?? <span class="soft">{words.byHand}</span>,
            isExtra: true,
          },
          { head: words.state, cell: ({ payment_status }) => <Badge of={payment_status} /> },
          {
            head: words.amount,
            cell: ({ amount_cents, amount_currency }) => money(amount_cents, amount_currency),
            isNumber: true,
          },
        ]}
        href={({ svc_id }) => to('payments', svc_id, 'request')}
        empty={{ title: words.noRequests, children: <p class="soft">{words.noRequestsHint}</p> }}
      />
    </>
  );
}

interface Campaign {
  svc_id: string;
  code: string;
  name: string;
  days_between_attempts: number;
  max_attempts: number;
  thresholds: { amount_cents: number; currency: string }[];
  applied_to_organization: boolean;
  customers_count: number;
  updated_at: string;
}

function CampaignList() {
  return (
    <Listing<Campaign>
      path="/dunning_campaigns"
      root="dunning_campaigns"
      label={words.campaigns}
      columns={[
        {
          head: words.name,
          cell: ({ name, code }) => (
            <>
              {name}
              <span class="second">{code}</span>
            </>
          ),
        },
        {
          head: words.attempts,
          cell: ({ max_attempts, days_between_attempts }) => words.everyDays(max_attempts, days_between_attempts),
        },
        {
          head: words.from,
          cell: ({ thresholds }) =>
            thresholds.map(({ amount_cents, currency }) => money(amount_cents, currency)).join(', '),
          isNumber: true,
        },
        {
          head: words.customers,
          cell: (campaign) => (campaign.applied_to_organization ? words.everybody : count(campaign.customers_count)),
          isExtra: true,
        },
        { head: words.changed, cell: ({ updated_at }) => day(updated_at), isExtra: true },
      ]}
      empty={{ title: words.noCampaigns, children: <p class="soft">{words.noCampaignsHint}</p> }}
    />
  );
}
