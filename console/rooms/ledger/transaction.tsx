import { addressOf } from '../../frame/found.ts';
import { to } from '../../frame/route.ts';
import { useRead } from '../../frame/use-read.ts';
import { money } from '../../parts/amounts.ts';
import { Id } from '../../parts/copy.tsx';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { Shown } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { day, When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import { AccountName, RecordOf, ruleText, SIDES } from './cells.tsx';
import type { Transaction } from './records.ts';

const words = t.ledger;

/** What was booked at once: its lines on both sides, and what it was booked for. */
export function TransactionPage({ id }: { id: string }) {
  const reading = useRead<{ ledger_transaction: Transaction }>(`/ledger/transactions/${encodeURIComponent(id)}`);
  return (
    <Shown of={reading} rows={6}>
      {({ ledger_transaction: booked }) => (
        <Page
          title={ruleText(booked.rule)}
          back={{ href: to('ledger', undefined, undefined, { show: 'entries' }), text: words.backToEntries }}
          under={day(booked.booked_on)}
        >
          <Section title={words.lines}>
            <Lines of={booked} />
          </Section>
          <Section title={t.page.facts}>
            <div class="card padded">
              <Facts
                of={[
                  [words.source, <Source of={booked} />],
                  [words.documentDate, day(booked.document_date)],
                  [words.bookedAt, <When at={booked.booked_at} />],
                  [
                    words.reverses,
                    booked.svc_reverses_id && <a href={to('ledger', booked.svc_reverses_id)}>{words.reversed}</a>,
                  ],
                  [t.page.id, <Id of={booked.svc_id} />],
                ]}
              />
            </div>
          </Section>
        </Page>
      )}
    </Shown>
  );
}

function Lines({ of: { lines, currency } }: { of: Transaction }) {
  const sum = (side: 'debit' | 'credit') =>
    money(
      lines.reduce((total, line) => total + (line.side === side ? line.amount_cents : 0), 0),
      currency,
    );
  const [debit, credit] = SIDES;
  return (
    <Table
      label={words.lines}
      rows={lines}
      keyOf={({ svc_id }) => svc_id}
      columns={[
        { head: words.account, cell: ({ account_code }) => <AccountName code={account_code} />, foot: words.total },
        { head: words.tax, cell: ({ tax_code }) => tax_code ?? '–', isExtra: true },
        { head: words.record, cell: (entry) => <RecordOf entry={entry} />, isExtra: true },
        { ...debit!, foot: sum('debit') },
        { ...credit!, foot: sum('credit') },
      ]}
    />
  );
}

/** The record whose change was booked; those without a page of their own by their id. */
function Source({ of: { source_type, svc_source_id } }: { of: Transaction }) {
  const type = source_type.replace(/(?<=.)[A-Z]/g, '_$&').toLowerCase();
  const text = type.replaceAll('_', ' ');
  const href = addressOf({ type, path: `/${svc_source_id}` });
  return href ? (
    <a href={href}>{text}</a>
  ) : (
    <>
      {text} <Id of={svc_source_id} />
    </>
  );
}
