import { route, searchOf, to } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { money } from '../../parts/amounts.ts';
import { Action } from '../../parts/form.tsx';
import { Page } from '../../parts/page.tsx';
import { type Customer, customerName } from '../../parts/records.ts';
import { Empty, Shown } from '../../parts/states.tsx';
import { type PageMeta, Pager, SearchField, Table } from '../../parts/table.tsx';
import { day } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import { CustomerPage } from './customer.tsx';
import { CustomerForm } from './customer-form.tsx';

export default function Customers() {
  const { id } = route.value;
  return id === undefined ? <List /> : <CustomerPage key={id} externalId={id} />;
}

function List() {
  const { query } = route.value;
  const search = query.get('q') ?? '';
  const list = useRead<{ customers: Customer[]; meta: PageMeta }>(
    `/customers${searchOf({ per_page: 25, page: query.get('page') ?? 1, count: 'none', search_term: search })}`,
  );
  const ids = list.data?.customers.map(({ svc_id }) => svc_id) ?? [];
  const summaries = useRead<{ customer_summaries: Summary[] }>(
    ids.length > 0 ? `/customer_summaries${searchOf({ svc_ids: ids })}` : null,
  );
  const summaryOf = ({ svc_id }: Customer) =>
    summaries.data?.customer_summaries.find((summary) => summary.svc_id === svc_id);
  return (
    <Page
      title={t.customers.title}
      actions={
        can('customer', 'write') && (
          <Action text={t.customers.newCustomer} isMain>
            {(close) => <CustomerForm onClose={close} />}
          </Action>
        )
      }
    >
      <div class="bar">
        <SearchField label={t.customers.search} />
      </div>
      <Shown of={list} rows={8}>
        {({ customers, meta }) =>
          customers.length === 0 ? (
            <Empty title={search === '' ? t.customers.none : t.customers.noneFound(search)}>
              {search === '' ? (
                <p class="soft">{t.customers.noneHint}</p>
              ) : (
                <a href={to('customers')}>{t.customers.showAll}</a>
              )}
            </Empty>
          ) : (
            <>
              <Table
                label={t.customers.title}
                rows={customers}
                keyOf={({ svc_id }) => svc_id}
                href={({ external_id }) => to('customers', external_id)}
                columns={[
                  {
                    head: t.customers.name,
                    cell: (customer) => (
                      <>
                        {customerName(customer)}
                        <span class="second narrow-only">{customer.external_id}</span>
                      </>
                    ),
                  },
                  {
                    head: t.customers.externalId,
                    cell: ({ external_id }) => <code class="cut">{external_id}</code>,
                    isExtra: true,
                  },
                  { head: t.customers.email, cell: ({ email }) => email ?? <span class="soft">–</span>, isExtra: true },
                  {
                    head: t.customers.country,
                    cell: ({ country }) => country ?? <span class="soft">–</span>,
                    isExtra: true,
                  },
                  {
                    head: t.customers.due,
                    cell: (customer) => <Owed of={summaryOf(customer)} field="due" />,
                    isNumber: true,
                  },
                  {
                    head: t.customers.overdue,
                    cell: (customer) => <Owed of={summaryOf(customer)} field="overdue" />,
                    isNumber: true,
                  },
                  {
                    head: t.customers.lastEvent,
                    cell: (customer) => day(summaryOf(customer)?.last_event_on),
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

interface Summary {
  svc_id: string;
  currencies: { currency: string; due_amount_cents: number; overdue_amount_cents: number }[];
  last_event_on: string | null;
}

/** What a customer owes, in each currency of its own. */
function Owed({ of, field }: { of: Summary | undefined; field: 'due' | 'overdue' }) {
  const sums = of?.currencies
    .map(({ currency, ...amounts }) => ({ currency, cents: amounts[`${field}_amount_cents`] }))
    .filter(({ cents }) => cents !== 0);
  if (!sums || sums.length === 0) return <span class="soft">–</span>;
  return (
    <span class={field === 'overdue' ? 'down' : ''}>
      {sums.map(({ currency, cents }) => money(cents, currency)).join(' · ')}
    </span>
  );
}
