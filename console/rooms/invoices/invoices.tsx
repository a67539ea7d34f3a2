import { route, searchOf, to } from '../../frame/route.ts';
import { useRead } from '../../frame/use-read.ts';
import { type Offer, Offers } from '../../parts/offers.tsx';
import { Page } from '../../parts/page.tsx';
import type { Invoice } from '../../parts/records.ts';
import { Empty } from '../../parts/states.tsx';
import { Choices, type PageMeta, SearchField } from '../../parts/table.tsx';
import { t } from '../../texts/en.ts';
import { InvoicePage } from './invoice.tsx';
import { InvoiceTable } from './invoice-table.tsx';

/** Quick filters, as the API takes them. */
const SHOWN: Record<string, Record<string, string>> = {
  draft: { status: 'draft' },
  outstanding: { status: 'finalized', payment_status: 'pending' },
  overdue: { payment_overdue: 'true' },
  failed: { status: 'finalized', payment_status: 'failed' },
  disputed: { payment_dispute_lost: 'true' },
  voided: { status: 'voided' },
  broken: { status: 'failed' },
};

export default function Invoices() {
  const { id } = route.value;
  return id === undefined ? <List /> : <InvoicePage key={id} id={id} />;
}

/** Who owes, and what failed? */
function List() {
  const { query } = route.value;
  const [show, search] = [query.get('show') ?? '', query.get('q') ?? ''];
  const list = useRead<{ invoices: Invoice[]; meta: PageMeta }>(
    `/invoices${searchOf({ per_page: 25, page: query.get('page') ?? 1, search_term: search, ...SHOWN[show] })}`,
  );
  return (
    <Page
      title={t.invoices.title}
      actions={
        <Offers
          of={[
            show === 'draft' && run(t.invoices.finalizeAllAbout, t.invoices.finalizeAll, '/invoices/finalize_all'),
            show === 'failed' && run(t.invoices.retryAllAbout, t.invoices.retryAll, '/invoices/retry_all'),
          ]}
        />
      }
    >
      <div class="bar">
        <Choices
          label={t.invoices.which}
          name="show"
          options={[
            ['', t.invoices.all],
            ['draft', t.invoices.drafts],
            ['outstanding', t.invoices.outstanding],
            ['overdue', t.invoices.overdue],
            ['failed', t.invoices.failed],
            ['disputed', t.invoices.disputed],
            ['voided', t.invoices.voided],
            ['broken', t.invoices.notMade],
          ]}
        />
        <SearchField label={t.invoices.search} />
      </div>
      <InvoiceTable
        list={list}
        empty={
          show === '' && search === '' ? undefined : (
            <Empty title={t.invoices.noneFiltered}>
              <a href={to('invoices')}>{t.invoices.showAll}</a>
            </Empty>
          )
        }
      />
    </Page>
  );
}

const run = (text: string, submit: string, path: string): Offer => ({
  text,
  submit,
  needs: 'invoice',
  about: t.invoices.runAbout,
  command: () => ({ method: 'POST', path }),
});
