import { route, searchOf, to } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { money } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { Id } from '../../parts/copy.tsx';
import { Figure } from '../../parts/figure.tsx';
import { Action } from '../../parts/form.tsx';
import { Listing } from '../../parts/listing.tsx';
import { Offers } from '../../parts/offers.tsx';
import { Facts, Page, Section, Tabs } from '../../parts/page.tsx';
import { type Activity, type Customer, customerName, type Invoice, type Subscription } from '../../parts/records.ts';
import { Empty, Shown } from '../../parts/states.tsx';
import { type PageMeta, Table } from '../../parts/table.tsx';
import { day, When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import { AppliedCoupons } from '../coupons/applied.tsx';
import { appliesCoupon } from '../coupons/offers.ts';
import { COLUMNS as CREDIT_NOTE_COLUMNS } from '../credit-notes/credit-notes.tsx';
import type { CreditNote } from '../credit-notes/records.ts';
import { InvoiceTable } from '../invoices/invoice-table.tsx';
import { ActivityList } from '../logs/activity-list.tsx';
import { requestsPayment } from '../payments/request-payment.tsx';
import { SubscribeForm } from '../subscriptions/subscribe-form.tsx';
import type { Wallet } from '../wallets/records.ts';
import { CustomerForm, deletesCustomer } from './customer-form.tsx';
import { Payments } from './payments.tsx';
import { PortalLink } from './portal-link.tsx';
import { Wallets } from './wallets.tsx';

/** What a key must read to see a tab. */
const NEEDS: Record<string, string> = {
  invoices: 'invoice',
  payments: 'payment',
  'credit-notes': 'credit_note',
  wallets: 'wallet',
  coupons: 'applied_coupon',
};

const TABS = [
  ['overview', 'Overview'],
  ['invoices', 'Invoices'],
  ['payments', 'Payments'],
  ['credit-notes', 'Credit notes'],
  ['wallets', 'Wallets'],
  ['coupons', 'Coupons'],
  ['details', 'Details'],
] as const;

/** What is going on with this customer? */
export function CustomerPage({ externalId }: { externalId: string }) {
  const id = encodeURIComponent(externalId);
  const tab = route.value.tab ?? 'overview';
  const reading = useRead<{ customer: Customer }>(`/customers/${id}`);
  return (
    <Shown of={reading} rows={8}>
      {({ customer }) => (
        <Page
          title={customerName(customer)}
          back={{ href: to('customers'), text: 'Customers' }}
          under={
            <>
              <Id of={customer.external_id} /> {customer.email && `· ${customer.email}`}
            </>
          }
          actions={
            <>
              {can('customer') && <PortalLink externalId={externalId} />}
              {can('subscription', 'write') && (
                <Action text="Subscribe">{(close) => <SubscribeForm customerId={externalId} onClose={close} />}</Action>
              )}
              {can('customer', 'write') && (
                <Action text="Edit">{(close) => <CustomerForm customer={customer} onClose={close} />}</Action>
              )}
              <Offers of={[requestsPayment(externalId), deletesCustomer(customer)]} />
            </>
          }
        >
          <Balance externalId={externalId} customer={customer} />
          <Tabs
            open={tab}
            of={TABS.filter(([name]) => NEEDS[name] === undefined || can(NEEDS[name])).map(([name, text]) => ({
              name,
              text,
              href: to('customers', externalId, name === 'overview' ? undefined : name),
            }))}
          />
          {tab === 'invoices' && <CustomerInvoices id={id} />}
          {tab === 'payments' && <Payments id={id} />}
          {tab === 'credit-notes' && (
            <Listing<CreditNote>
              path={`/customers/${id}/credit_notes`}
              root="credit_notes"
              isUncounted
              label={t.creditNotes.title}
              columns={CREDIT_NOTE_COLUMNS}
              href={({ svc_id }) => to('credit-notes', svc_id)}
              empty={{ title: t.creditNotes.none, children: <p class="soft">{t.creditNotes.noneHint}</p> }}
            />
          )}
          {tab === 'wallets' && <Wallets externalId={externalId} currency={customer.currency} />}
          {tab === 'coupons' && (
            <>
              <p class="bar">
                <Offers of={[appliesCoupon({ customerId: externalId })]} />
              </p>
              <AppliedCoupons filters={{ external_customer_id: externalId }} by="coupon" />
            </>
          )}
          {tab === 'details' && <Details customer={customer} />}
          {tab === 'overview' && <Overview externalId={externalId} />}
        </Page>
      )}
    </Shown>
  );
}

interface Unpaid {
  invoices: Invoice[];
  meta: PageMeta;
}

function Balance({ externalId, customer }: { externalId: string; customer: Customer }) {
  const path = `/invoices${searchOf({ external_customer_id: externalId, per_page: 100, statuses: ['finalized'], payment_statuses: ['pending', 'failed'] })}`;
  const { data } = useRead<Unpaid>(can('invoice') ? path : null);
  const walletsPath = `/wallets${searchOf({ external_customer_id: externalId, per_page: 20 })}`;
  const wallets = useRead<{ wallets: Wallet[] }>(can('wallet') ? walletsPath : null);
  if (!data && !wallets.data) return null;
  const currencies = [...new Set(data?.invoices.map(({ currency }) => currency) ?? [])];
  const shown = currencies.length > 0 ? currencies : [customer.currency ?? ''];
  const active = (wallets.data?.wallets ?? []).filter(({ status }) => status === 'active');
  return (
    <div class="figures">
      {data &&
        shown.map((currency) => {
          const open = data.invoices.filter((invoice) => invoice.currency === currency);
          const sum = (of: readonly Invoice[]) => of.reduce((total, each) => total + each.total_due_amount_cents, 0);
          const late = open.filter(({ payment_overdue }) => payment_overdue);
          return [
            <Figure
              key={`due ${currency}`}
              label={`Due${shown.length > 1 ? ` · ${currency}` : ''}`}
              value={money(sum(open), currency)}
              note={`${open.length} open ${open.length === 1 ? 'invoice' : 'invoices'}`}
              origin={{ path, formula: 'The sum of total_due_amount_cents of the final invoices that are not paid.' }}
            />,
            <Figure
              key={`overdue ${currency}`}
              label="Overdue"
              value={money(sum(late), currency)}
              tone={late.length > 0 ? 'bad' : undefined}
              note={
                late.length === 0 ? 'nothing is late' : `since ${day(late.map((i) => i.payment_due_date).sort()[0])}`
              }
              origin={{ path, formula: 'The same, of those whose payment_overdue is true.' }}
            />,
          ];
        })}
      {active.map((wallet) => (
        <Figure
          key={wallet.svc_id}
          label={wallet.name ?? 'Wallet'}
          value={money(wallet.ongoing_balance_cents, wallet.currency)}
          note={`${money(wallet.balance_cents, wallet.currency)} before the usage of now`}
          origin={{ path: walletsPath, formula: 'ongoing_balance_cents of the wallet.', answer: wallet }}
        />
      ))}
    </div>
  );
}

function Overview({ externalId }: { externalId: string }) {
  const subscriptions = useRead<{ subscriptions: Subscription[] }>(
    can('subscription')
      ? `/subscriptions${searchOf({ external_customer_id: externalId, per_page: 20, status: ['active', 'pending'] })}`
      : null,
  );
  const activities = useRead<{ activity_logs: Activity[] }>(
    can('activity_log') ? `/activity_logs${searchOf({ external_customer_id: externalId, per_page: 20 })}` : null,
  );
  return (
    <>
      {can('subscription') && (
        <Section title="Subscriptions">
          <Shown of={subscriptions}>
            {({ subscriptions: rows }) =>
              rows.length === 0 ? (
                <Empty title="No subscription">
                  <p class="soft">Subscribe this customer to a plan, and its usage is billed.</p>
                </Empty>
              ) : (
                <Table
                  label="Subscriptions"
                  rows={rows}
                  keyOf={({ svc_id }) => svc_id}
                  href={({ external_id }) => to('subscriptions', external_id)}
                  columns={[
                    { head: 'Subscription', cell: ({ name, external_id }) => name ?? external_id },
                    { head: 'Plan', cell: ({ plan_code }) => <a href={to('plans', plan_code)}>{plan_code}</a> },
                    { head: 'State', cell: ({ status }) => <Badge of={status} /> },
                    {
                      head: 'Fee of a period',
                      cell: ({ plan_amount_cents, plan_amount_currency }) =>
                        money(plan_amount_cents, plan_amount_currency),
                      isNumber: true,
                      isExtra: true,
                    },
                    {
                      head: 'Period ends',
                      cell: ({ current_billing_period_ending_at: end }) => day(end),
                      isExtra: true,
                    },
                  ]}
                />
              )
            }
          </Shown>
        </Section>
      )}
      {can('activity_log') && (
        <Section title="What happened">
          <Shown of={activities}>
            {({ activity_logs }) => <ActivityList activities={activity_logs} isOfCustomer />}
          </Shown>
        </Section>
      )}
    </>
  );
}

function CustomerInvoices({ id }: { id: string }) {
  const page = route.value.query.get('page') ?? 1;
  const list = useRead<{ invoices: Invoice[]; meta: PageMeta }>(
    `/customers/${id}/invoices${searchOf({ per_page: 25, page })}`,
  );
  return <InvoiceTable list={list} isOfCustomer />;
}

function Details({ customer }: { customer: Customer }) {
  return (
    <div class="card padded">
      <Facts
        of={[
          ['Legal name', customer.legal_name],
          ['Email', customer.email],
          ['Phone', customer.phone],
          [
            'Address',
            [customer.address_line1, [customer.zipcode, customer.city].filter(Boolean).join(' '), customer.country]
              .filter(Boolean)
              .join(', '),
          ],
          ['Tax number', customer.tax_identification_number],
          ['Currency', customer.currency],
          ['Time zone', customer.applicable_timezone],
          ['Days to pay', customer.net_payment_term === null ? 'as the billing entity' : customer.net_payment_term],
          ['Billing entity', customer.billing_entity_code],
          ['Since', <When at={customer.created_at} />],
          ['Id', <Id of={customer.svc_id} />],
          ...customer.metadata.map(({ key, value }) => [key, value] as const),
        ]}
      />
    </div>
  );
}
