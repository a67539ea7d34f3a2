import { write } from '../../frame/api.ts';
import { announce } from '../../frame/live-region.tsx';
import { to } from '../../frame/route.ts';
import { useRead } from '../../frame/use-read.ts';
import { money } from '../../parts/amounts.ts';
import { copyText, Id } from '../../parts/copy.tsx';
import { inLedger } from '../../parts/in-ledger.tsx';
import { type Offer, Offers } from '../../parts/offers.tsx';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { customerName } from '../../parts/records.ts';
import { Shown } from '../../parts/states.tsx';
import { SumSteps } from '../../parts/sum-steps.tsx';
import { Table } from '../../parts/table.tsx';
import { day, When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import { NoteBadges } from './credit-notes.tsx';
import type { CreditNote } from './records.ts';

const words = t.creditNotes;

/** What was given back, how, and what is left of it. */
export function CreditNotePage({ id }: { id: string }) {
  const reading = useRead<{ credit_note: CreditNote }>(`/credit_notes/${encodeURIComponent(id)}`);
  return (
    <Shown of={reading} rows={8}>
      {({ credit_note: note }) => (
        <Page
          title={note.number}
          badge={<NoteBadges note={note} />}
          back={{ href: to('credit-notes'), text: words.title }}
          under={
            <>
              {money(note.total_amount_cents, note.currency)}{' '}
              {note.customer && (
                <>
                  {words.givenTo} <a href={to('customers', note.customer.external_id)}>
                    {customerName(note.customer)}
                  </a>{' '}
                </>
              )}
              {words.ofInvoice} <a href={to('invoices', note.svc_invoice_id)}>{note.invoice_number}</a>
            </>
          }
          actions={
            <>
              <button type="button" onClick={() => void copyText(factsOf(note))}>
                {t.page.copyForCustomer}
              </button>
              <button type="button" onClick={() => void openPdf(note)}>
                PDF
              </button>
              <Offers of={offersOf(note)} />
            </>
          }
        >
          <Section title={words.items}>
            <Table
              label={words.items}
              rows={note.items}
              keyOf={({ svc_id }) => svc_id}
              columns={[
                { head: words.line, cell: ({ fee }) => fee?.item?.invoice_display_name || fee?.item?.name || '–' },
                { head: words.amount, cell: (item) => money(item.amount_cents, note.currency), isNumber: true },
              ]}
            />
          </Section>
          <Section title={words.howItIsGiven}>
            <SumSteps currency={note.currency} of={stepsOf(note)} />
          </Section>
          <Section title={t.page.facts}>
            <div class="card padded">
              <Facts
                of={[
                  [words.reason, words.reasons[note.reason] ?? note.reason],
                  [words.description, note.description],
                  [words.issued, day(note.issuing_date)],
                  [t.page.made, <When at={note.created_at} />],
                  ...inLedger('credit_note', note.svc_id),
                  [t.page.id, <Id of={note.svc_id} />],
                ]}
              />
            </div>
          </Section>
        </Page>
      )}
    </Shown>
  );
}

function stepsOf(note: CreditNote) {
  const part = (text: string, cents: number, isTotal = false) => (cents === 0 ? [] : [{ text, cents, isTotal }]);
  return [
    ...part(words.coupons, -note.coupons_adjustment_amount_cents),
    ...part(words.beforeTaxes, note.sub_total_excluding_taxes_amount_cents),
    ...part(words.taxes, note.taxes_amount_cents),
    { text: words.total, cents: note.total_amount_cents, isTotal: true },
    ...part(words.asCredit, note.credit_amount_cents),
    ...part(words.asRefund, note.refund_amount_cents),
    ...part(words.asOffset, note.offset_amount_cents),
    ...(note.credit_amount_cents > 0 ? [{ text: words.left, cents: note.balance_amount_cents, isTotal: true }] : []),
  ];
}

function offersOf(note: CreditNote): (Offer | false)[] {
  const path = `/credit_notes/${note.svc_id}`;
  return [
    note.refund_status === 'pending' && {
      text: words.markRefund,
      needs: 'credit_note',
      about: words.markRefundAbout,
      fields: [
        {
          name: 'refund_status',
          label: words.refundIs,
          type: 'select',
          value: 'succeeded',
          options: [
            ['succeeded', words.refundSucceeded],
            ['failed', words.refundFailed],
          ],
        },
      ],
      command: ({ refund_status }) => ({ method: 'PUT', path, body: { credit_note: { refund_status } } }),
    },
    {
      text: words.mail,
      needs: 'credit_note',
      about: words.mailAbout,
      command: () => ({ method: 'POST', path: `${path}/resend_email` }),
    },
    note.credit_status === 'available' &&
      note.balance_amount_cents > 0 && {
        text: words.void,
        needs: 'credit_note',
        typed: note.number,
        about: words.voidAbout(money(note.balance_amount_cents, note.currency)),
        command: () => ({ method: 'PUT', path: `${path}/void` }),
      },
  ];
}

async function openPdf(note: CreditNote): Promise<void> {
  announce(t.invoices.actions.pdfBegun);
  const path = `/credit_notes/${note.svc_id}/download`;
  const answer = await write<{ credit_note: { file_url: string | null } }>('POST', path).catch(() => undefined);
  const url = answer?.credit_note.file_url;
  if (url && /^https?:/.test(url)) window.open(url, '_blank', 'noreferrer');
  else announce(t.invoices.actions.pdfLate);
}

const factsOf = (note: CreditNote): string =>
  [
    words.factsTitle(note.number, note.invoice_number, day(note.issuing_date)),
    ...note.items.map(
      ({ fee, amount_cents }) =>
        `- ${fee?.item?.invoice_display_name || fee?.item?.name}: ${money(amount_cents, note.currency)}`,
    ),
    ...stepsOf(note).map(({ text, cents }) => `${text}: ${money(cents, note.currency)}`),
  ].join('\n');
