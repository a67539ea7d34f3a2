import { route, to } from '../../frame/route.ts';
import { money } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { CustomerLink } from '../../parts/customer-names.tsx';
import { Listing } from '../../parts/listing.tsx';
import { Page } from '../../parts/page.tsx';
import { Choices, type Column, SearchField } from '../../parts/table.tsx';
import { day } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import { CreditNotePage } from './credit-note.tsx';
import { NewCreditNote } from './new-credit-note.tsx';
import type { CreditNote } from './records.ts';

const words = t.creditNotes;

export default function CreditNotes() {
  const { id, query } = route.value;
  if (id === undefined) return <List />;
  if (id === 'new') return <NewCreditNote invoiceId={query.get('invoice') ?? ''} />;
  return <CreditNotePage key={id} id={id} />;
}

export const COLUMNS: readonly Column<CreditNote>[] = [
  { head: words.number, cell: ({ number }) => number },
  {
    head: words.invoice,
    cell: ({ svc_invoice_id, invoice_number }) => <a href={to('invoices', svc_invoice_id)}>{invoice_number}</a>,
  },
  { head: words.reason, cell: ({ reason }) => words.reasons[reason] ?? reason, isExtra: true },
  { head: words.state, cell: (note) => <NoteBadges note={note} /> },
  { head: words.issued, cell: ({ issuing_date }) => day(issuing_date), isExtra: true },
  { head: words.total, cell: (note) => money(note.total_amount_cents, note.currency), isNumber: true },
  { head: words.left, cell: (note) => money(note.balance_amount_cents, note.currency), isNumber: true, isExtra: true },
];

const [number, ...others] = COLUMNS;
/** Rows of the list name no customer, but the fees of their items do. */
const customerOf = ({ items }: CreditNote) =>
  items.find(({ fee }) => fee?.external_customer_id)?.fee?.external_customer_id;
const BY_CUSTOMER: Column<CreditNote> = {
  head: words.customer,
  cell: (note) => {
    const id = customerOf(note);
    return id ? <CustomerLink id={id} /> : <span class="soft">–</span>;
  },
};

/** What did we give back? */
function List() {
  const { query } = route.value;
  const state = query.get('state') ?? '';
  return (
    <Page title={words.title} under={words.under}>
      <div class="bar">
        <Choices
          label={words.which}
          name="state"
          options={[
            ['', t.list.all],
            ['available', words.available],
            ['consumed', words.consumed],
            ['voided', words.voided],
          ]}
        />
        <SearchField label={words.search} />
      </div>
      <Listing<CreditNote>
        path="/credit_notes"
        root="credit_notes"
        isUncounted
        filters={{ search_term: query.get('q'), ...(state === '' ? {} : { credit_status: state }) }}
        label={words.title}
        customerOf={customerOf}
        columns={[number!, BY_CUSTOMER, ...others]}
        href={({ svc_id }) => to('credit-notes', svc_id)}
        empty={{ title: words.none, children: <p class="soft">{words.noneHint}</p> }}
      />
    </Page>
  );
}

export function NoteBadges({ note }: { note: CreditNote }) {
  return (
    <>
      {note.credit_amount_cents > 0 && (
        <Badge of={note.credit_status}>{words.states[note.credit_status] ?? note.credit_status}</Badge>
      )}{' '}
      {note.refund_status && note.refund_amount_cents > 0 && (
        <Badge of={note.refund_status}>{words.refund(note.refund_status)}</Badge>
      )}
      {note.credit_amount_cents === 0 && note.refund_amount_cents === 0 && <Badge of="offset">{words.offset}</Badge>}
    </>
  );
}
