import { readFile } from '../../frame/api.ts';
import { announce } from '../../frame/live-region.tsx';
import { type Filters, route, searchOf, to } from '../../frame/route.ts';
import { CustomerLink } from '../../parts/customer-names.tsx';
import { Chips, Listing } from '../../parts/listing.tsx';
import { RecordFilter } from '../../parts/record-filter.tsx';
import { saveFile } from '../../parts/save-file.ts';
import { customers } from '../../parts/sources.ts';
import { DateField } from '../../parts/table.tsx';
import { day } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import { AccountName, RecordOf, ruleText, SIDES } from './cells.tsx';
import type { Entry } from './records.ts';

const words = t.ledger;

/** Filters without a field of their own: other pages and rows of balances lead here with them. */
const BY_LINK = ['account', 'currency', 'entity', 'invoice', 'credit_note', 'wallet', 'payment'] as const;

/** What was booked, in the order of the journal. */
export function Entries() {
  const asked = entriesAsked();
  return (
    <>
      <div class="bar">
        <RecordFilter label={words.customer} name="customer" from={customers} />
        <DateField label={words.from} name="from" />
        <DateField label={words.until} name="until" />
        <button type="button" onClick={() => void saveCsv(asked)}>
          {words.csv}
        </button>
      </div>
      <Chips of={BY_LINK} textOf={(name, value) => chipText(name, value)} />
      <Listing<Entry>
        path="/ledger/entries"
        root="ledger_entries"
        isOldestFirst
        filters={asked}
        label={words.entries}
        customerOf={({ external_customer_id }) => external_customer_id}
        href={({ svc_transaction_id }) => to('ledger', svc_transaction_id)}
        columns={[
          { head: words.what, cell: ({ rule }) => ruleText(rule) },
          { head: words.sequence, cell: ({ sequence }) => sequence, isNumber: true, isExtra: true },
          { head: words.day, cell: ({ booked_on }) => day(booked_on), isExtra: true },
          { head: words.account, cell: ({ account_code }) => <AccountName code={account_code} /> },
          { head: words.record, cell: (entry) => <RecordOf entry={entry} />, isExtra: true },
          {
            head: words.customer,
            cell: ({ external_customer_id: id }) => (id === null ? '–' : <CustomerLink id={id} />),
            isExtra: true,
          },
          ...SIDES,
        ]}
        empty={{ title: words.none, children: <p class="soft">{words.noneHint}</p> }}
      />
    </>
  );
}

/** A record is named by its kind: its id says nothing to a person. */
const chipText = (name: string, value: string): string =>
  name === 'account'
    ? (words.accountNames[value] ?? value)
    : name in words.records
      ? words.records[name as keyof typeof words.records]
      : value;

function entriesAsked(): Filters {
  const { query } = route.value;
  const one = (name: string) => (query.get(name) ? [query.get(name)!] : undefined);
  return {
    account_codes: one('account'),
    billing_entity_codes: one('entity'),
    currency: query.get('currency'),
    external_customer_id: query.get('customer'),
    invoice_id: query.get('invoice'),
    credit_note_id: query.get('credit_note'),
    wallet_id: query.get('wallet'),
    payment_id: query.get('payment'),
    booked_from: query.get('from'),
    booked_to: query.get('until'),
  };
}

async function saveCsv(asked: Filters): Promise<void> {
  announce(words.csvBegun);
  const file = await readFile(`/ledger/entries${searchOf(asked)}`, 'text/csv').catch(() => undefined);
  if (file) saveFile(file, 'ledger-entries.csv');
  announce(file ? words.csvDone : words.csvFailed);
}
