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
import { type Customer, customerName, type Invoice, type Subscription } from '../../parts/records.ts';
import { Empty, Shown } from '../../parts/states.tsx';
import { type PageMeta, Table } from '../../parts/table.tsx';
import { day, When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import { AppliedCoupons } from '../coupons/applied.tsx';
import { appliesCoupon } from '../coupons/offers.ts';
import { COLUMNS as CREDIT_NOTE_COLUMNS } from '../credit-notes/credit-notes.tsx';
import type { CreditNote } from '../credit-notes/records.ts';
import { InvoiceTable } from '../invoices/invoice-table.tsx';
import { requestsPayment } from '../payments/request-payment.tsx';
import { SubscribeForm } from '../subscriptions/subscribe-form.tsx';
import type { Wallet } from '../wallets/records.ts';
import { CustomerForm, deletesCustomer } from './customer-form.tsx';
import { Payments } from './payments.tsx';
import { PortalLink } from './portal-link.tsx';
import { Timeline } from './timeline.tsx';
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
  ['overview', t.customers.overview],
  ['invoices', t.customers.invoices],
  ['payments', t.customers.payments],
  ['credit-notes', t.customers.creditNotes],
  ['wallets', t.customers.wallets],
  ['coupons', t.customers.coupons],
  ['details', t.customers.details],
] as const;

/** What is going on with this customer? */
export function CustomerPage({ externalId }: { externalId: string }) {
  const id = encodeURIComponent(externalId);
  const asked = route.value.tab;
  const tab = TABS.find(([name]) => name === asked)?.[0] ?? 'overview';
  const reading = useRead<{ customer: Customer }>(`/customers/${id}`);
  return (
    <Shown of={reading} rows={8}>
      {({ customer }) => (
        <Page
          title={customerName(customer)}
          back={{ href: to('customers'), text: t.customers.title }}
          under={
            <>
              <Id of={customer.external_id} /> {customer.email && `· ${customer.email}`}
            </>
          }
          actions={
            <>
              {can('customer') && <PortalLink externalId={externalId} />}
              {can('subscription', 'write') && (
                <Action text={t.customers.subscribe}>
                  {(close) => <SubscribeForm customerId={externalId} onClose={close} />}
                </Action>
              )}
              {can('customer', 'write') && (
                <Action text={t.customers.edit}>
                  {(close) => <CustomerForm customer={customer} onClose={close} />}
                </Action>
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
              note={t.customers.openInvoices(open.length, open.length === 1 ? 'invoice' : 'invoices')}
              origin={{ path, formula: t.customers.dueFormula }}
            />,
            <Figure
              key={`overdue ${currency}`}
              label={t.customers.overdue}
              value={money(sum(late), currency)}
              tone={late.length > 0 ? 'bad' : undefined}
              note={
                late.length === 0
                  ? t.customers.nothingOverdue
                  : t.customers.overdueSince(day(late.map((i) => i.payment_due_date).sort()[0]))
              }
              origin={{ path, formula: t.customers.overdueFormula }}
            />,
          ];
        })}
      {active.map((wallet) => (
        <Figure
          key={wallet.svc_id}
          label={wallet.name ?? t.customers.wallet}
          value={money(wallet.ongoing_balance_cents, wallet.currency)}
          note={t.customers.walletNote(money(wallet.balance_cents, wallet.currency))}
          origin={{ path: walletsPath, formula: t.customers.walletFormula, answer: wallet }}
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
  return (
    <>
      {can('subscription') && (
        <Section title={t.customers.subscriptions}>
          <Shown of={subscriptions}>
            {({ subscriptions: rows }) =>
              rows.length === 0 ? (
                <Empty title={t.customers.noSubscriptions}>
                  <p class="soft">{t.customers.noSubscriptionsHint}</p>
                </Empty>
              ) : (
                <Table
                  label={t.customers.subscriptions}
                  rows={rows}
                  keyOf={({ svc_id }) => svc_id}
                  href={({ external_id }) => to('subscriptions', external_id)}
                  columns={[
                    { head: t.customers.subscription, cell: ({ name, external_id }) => name ?? external_id },
                    {
                      head: t.customers.plan,
                      cell: ({ plan_code }) => <a href={to('plans', plan_code)}>{plan_code}</a>,
                    },
                    { head: t.customers.state, cell: ({ status }) => <Badge of={status} /> },
                    {
                      head: t.customers.periodFee,
                      cell: ({ plan_amount_cents, plan_amount_currency }) =>
                        money(plan_amount_cents, plan_amount_currency),
                      isNumber: true,
                      isExtra: true,
                    },
                    {
                      head: t.customers.periodEnds,
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
      <Timeline id={encodeURIComponent(externalId)} />
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
          [t.customers.legalName, customer.legal_name],
          [t.customers.email, customer.email],
          [t.customers.phone, customer.phone],
          [
            t.customers.address,
            [customer.address_line1, [customer.zipcode, customer.city].filter(Boolean).join(' '), customer.country]
              .filter(Boolean)
              .join(', '),
          ],
          [t.customers.taxNumber, customer.tax_identification_number],
          [t.customers.currency, customer.currency],
          [t.customers.timeZone, customer.applicable_timezone],
          [
            t.customers.netTerm,
            customer.net_payment_term === null ? t.customers.netTermOfEntity : customer.net_payment_term,
          ],
          [t.customers.billingEntity, customer.billing_entity_code],
          [t.customers.createdAt, <When at={customer.created_at} />],
          [t.customers.id, <Id of={customer.svc_id} />],
          ...customer.metadata.map(({ key, value }) => [key, value] as const),
        ]}
      />
    </div>
  );
}
