import { route, to } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { Badge } from '../../parts/badge.tsx';
import { Listing } from '../../parts/listing.tsx';
import { Page } from '../../parts/page.tsx';
import { RecordFilter } from '../../parts/record-filter.tsx';
import { customers } from '../../parts/sources.ts';
import { Choices } from '../../parts/table.tsx';
import { day, When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import { QuoteEditor } from './editor.tsx';
import { OrderTable } from './order.tsx';
import { QuotePage } from './quote.tsx';
import type { Order, OrderForm, Quote } from './records.ts';

const words = t.quotes;

export default function Quotes() {
  const { id, tab } = route.value;
  if (id === 'new') return <QuoteEditor />;
  if (id !== undefined && tab === 'edit') return <QuoteEditor key={id} id={id} />;
  return id === undefined ? <List /> : <QuotePage key={id} id={id} />;
}

/** What is agreed? */
function List() {
  const show = route.value.query.get('show') ?? '';
  return (
    <Page
      title={words.title}
      under={words.under}
      actions={
        can('quote', 'write') && (
          <a class="button main" href={to('quotes', 'new')}>
            {words.new}
          </a>
        )
      }
    >
      <div class="bar">
        <Choices
          label={words.which}
          name="show"
          options={[
            ['', words.quotes],
            ...(can('order_form') ? [['forms', words.forms] as const] : []),
            ...(can('order') ? [['orders', words.orders] as const] : []),
          ]}
        />
        {show === '' && <RecordFilter label={words.customer} name="customer" from={customers} />}
      </div>
      {show === 'forms' ? <Forms /> : show === 'orders' ? <Orders /> : <QuoteList />}
    </Page>
  );
}

function QuoteList() {
  const { query } = route.value;
  const status = query.get('status');
  const customer = query.get('customer');
  return (
    <>
      <div class="bar">
        <Choices
          label={words.state}
          name="status"
          options={[
            ['', t.list.all],
            ['draft', words.draft],
            ['approved', words.approved],
            ['voided', words.voided],
          ]}
        />
      </div>
      <Listing<Quote>
        path="/quotes"
        root="quotes"
        isUncounted
        filters={{
          ...(status ? { status: [status] } : {}),
          ...(customer ? { external_customer_id: [customer] } : {}),
        }}
        label={words.title}
        columns={[
          { head: words.number, cell: ({ number }) => number },
          { head: words.kind, cell: ({ order_type }) => words.kinds[order_type] ?? order_type },
          {
            head: words.version,
            cell: ({ current_version }) => current_version?.version ?? '–',
            isNumber: true,
            isExtra: true,
          },
          {
            head: words.state,
            cell: ({ current_version: version }) => (version ? <Badge of={version.status} /> : '–'),
          },
          { head: words.made, cell: ({ created_at }) => <When at={created_at} />, isExtra: true },
        ]}
        href={({ svc_id }) => to('quotes', svc_id)}
        empty={{ title: words.none, children: <p class="soft">{words.noneHint}</p> }}
      />
    </>
  );
}

const Forms = () => (
  <Listing<OrderForm>
    path="/order_forms"
    root="order_forms"
    label={words.forms}
    columns={[
      { head: words.number, cell: ({ number }) => number },
      {
        head: words.state,
        cell: ({ status }) => <Badge of={status} tone={status === 'generated' ? 'wait' : undefined} />,
      },
      { head: words.expires, cell: ({ expires_at }) => day(expires_at) },
      { head: words.signed, cell: ({ signed_at }) => <When at={signed_at} />, isExtra: true },
      { head: words.made, cell: ({ created_at }) => <When at={created_at} />, isExtra: true },
    ]}
    href={({ svc_quote_id }) => to('quotes', svc_quote_id)}
    empty={{ title: words.noForms, children: <p class="soft">{words.noFormsHint}</p> }}
  />
);

function Orders() {
  const page = route.value.query.get('page') ?? 1;
  const list = useRead<{ orders: Order[] }>(`/orders?per_page=25&page=${page}`);
  return <OrderTable of={list} />;
}
