import { route, setFilters, to } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { Badge } from '../../parts/badge.tsx';
import { Id } from '../../parts/copy.tsx';
import { Offers } from '../../parts/offers.tsx';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { Shown } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { day, When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import { OfferedItems } from './items.tsx';
import { approves, clones, signs, voidsForm, voidsVersion } from './offers.ts';
import { OrderTable } from './order.tsx';
import type { Order, OrderForm, Quote, QuoteVersion, WholeVersion } from './records.ts';

const words = t.quotes;

/** A quote: its versions side by side, the form that was signed, and the order. */
export function QuotePage({ id }: { id: string }) {
  const path = `/quotes/${encodeURIComponent(id)}`;
  const reading = useRead<{ quote: Quote }>(path);
  const versions = useRead<{ quote_versions: QuoteVersion[] }>(`${path}/versions?per_page=50`);
  return (
    <Shown of={reading} rows={6}>
      {({ quote }) => {
        const current = quote.current_version;
        return (
          <Page
            title={quote.number}
            badge={current && <Badge of={current.status} />}
            back={{ href: to('quotes'), text: words.title }}
            under={words.kinds[quote.order_type] ?? quote.order_type}
            actions={
              current && (
                <>
                  {current.status === 'draft' && can('quote', 'write') && (
                    <a class="button" href={to('quotes', id, 'edit')}>
                      {t.page.edit}
                    </a>
                  )}
                  <Offers of={[approves(current), clones(current), voidsVersion(current, quote.number)]} />
                </>
              )
            }
          >
            <div class="card padded">
              <Facts
                of={[
                  [words.customer, <Customer of={quote} />],
                  [words.currency, current?.currency],
                  [words.entity, current?.billing_entity_code],
                  [words.owners, quote.owners?.map(({ email }) => email).join(', ')],
                  [words.made, <When at={quote.created_at} />],
                  [t.page.id, <Id of={quote.svc_id} />],
                ]}
              />
            </div>
            {current && <Versions current={current} all={versions.data?.quote_versions ?? [current]} />}
            {can('order_form') && <Forms number={quote.number} />}
            {can('order') && <Orders number={quote.number} />}
          </Page>
        );
      }}
    </Shown>
  );
}

/** A quote names its customer by the id of the service; its own id is in the summary. */
function Customer({ of: { svc_customer_id: id } }: { of: Quote }) {
  const { data } = useRead<{ customer_summaries: { external_id: string }[] }>(
    can('customer') ? `/customer_summaries?svc_ids[]=${id}` : null,
  );
  const customer = data?.customer_summaries[0]?.external_id;
  return customer === undefined ? <Id of={id} /> : <a href={to('customers', customer)}>{customer}</a>;
}

/** The current version, and beside it another one that is chosen. */
function Versions({ current, all }: { current: QuoteVersion; all: readonly QuoteVersion[] }) {
  const others = all.filter(({ svc_id }) => svc_id !== current.svc_id);
  const chosen = others.find(({ svc_id }) => svc_id === route.value.query.get('beside'));
  return (
    <Section
      title={words.offered}
      more={
        others.length > 0 && (
          <label>
            {words.compare}{' '}
            <select
              value={chosen?.svc_id ?? ''}
              onChange={(event) => setFilters({ beside: event.currentTarget.value || undefined })}
            >
              <option value="">{words.compareNone}</option>
              {others.map((version) => (
                <option key={version.svc_id} value={version.svc_id}>
                  {words.versionOf(version.version)}
                </option>
              ))}
            </select>
          </label>
        )
      }
    >
      <div class="columns">
        <VersionCard of={current} />
        {chosen && <VersionCard key={chosen.svc_id} of={chosen} />}
      </div>
    </Section>
  );
}

function VersionCard({ of: version }: { of: QuoteVersion }) {
  const reading = useRead<{ quote_version: WholeVersion }>(`/quote_versions/${version.svc_id}`);
  return (
    <div class="card padded">
      <h3>
        {words.versionOf(version.version)} <Badge of={version.status} />
        {version.void_reason && <span class="soft"> {version.void_reason.replaceAll('_', ' ')}</span>}
      </h3>
      <Shown of={reading} rows={2}>
        {({ quote_version: whole }) => (
          <>
            <OfferedItems of={whole} />
            {whole.content && <p class="content">{whole.content}</p>}
          </>
        )}
      </Shown>
    </div>
  );
}

function Forms({ number }: { number: string }) {
  const { data } = useRead<{ order_forms: OrderForm[] }>(`/order_forms?quote_number[]=${encodeURIComponent(number)}`);
  if (!data || data.order_forms.length === 0) return null;
  return (
    <Section title={words.form}>
      <Table
        label={words.forms}
        rows={data.order_forms}
        keyOf={({ svc_id }) => svc_id}
        columns={[
          { head: words.number, cell: (form) => form.number },
          {
            head: words.state,
            cell: ({ status }) => <Badge of={status} tone={status === 'generated' ? 'wait' : undefined} />,
          },
          { head: words.expires, cell: ({ expires_at }) => day(expires_at), isExtra: true },
          { head: words.signed, cell: ({ signed_at }) => <When at={signed_at} />, isExtra: true },
          { head: t.page.do, cell: (form) => <Offers isSmall of={[signs(form), voidsForm(form)]} /> },
        ]}
      />
    </Section>
  );
}

function Orders({ number }: { number: string }) {
  const list = useRead<{ orders: Order[] }>(`/orders?quote_number[]=${encodeURIComponent(number)}`);
  if (!list.data || list.data.orders.length === 0) return null;
  return (
    <Section title={words.order}>
      <OrderTable of={list} />
    </Section>
  );
}
