import { write } from '../../frame/api.ts';
import { announce } from '../../frame/live-region.tsx';
import { go, to } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { money } from '../../parts/amounts.ts';
import { fieldAmount, typedCents } from '../../parts/cents.ts';
import { type Offer, Offers } from '../../parts/offers.tsx';
import { t } from '../../texts/en.ts';
import type { FullInvoice } from './invoice.tsx';

const words = t.invoices.actions;

/** What can be done with an invoice in its state, by the rights of the key. */
export function InvoiceActions({ invoice }: { invoice: FullInvoice }) {
  const isFinal = invoice.status === 'finalized';
  return (
    <>
      {isFinal && <Download path={`/invoices/${invoice.svc_id}`} />}
      {isFinal && can('credit_note', 'write') && (
        <a class="button" href={to('credit-notes', 'new', undefined, { invoice: invoice.svc_id })}>
          {words.creditNote}
        </a>
      )}
      <Offers of={offersOf(invoice)} most={2} />
    </>
  );
}

function offersOf(invoice: FullInvoice): (Offer | false)[] {
  const path = `/invoices/${invoice.svc_id}`;
  const { currency, total_due_amount_cents: due } = invoice;
  const isFinal = invoice.status === 'finalized';
  const isDue = isFinal && due > 0;
  const plain = (text: string, suffix: string, about?: string): Offer => ({
    text,
    needs: 'invoice',
    about,
    command: () => ({ method: 'POST', path: `${path}/${suffix}` }),
  });
  return [
    invoice.status === 'draft' && {
      ...plain(words.refresh, 'refresh'),
      command: () => ({ method: 'PUT', path: `${path}/refresh` }),
    },
    invoice.status === 'draft' && {
      ...plain(words.finalize, 'finalize', words.finalizeAbout),
      isMain: true,
      command: () => ({ method: 'PUT', path: `${path}/finalize` }),
    },
    invoice.status === 'draft' && {
      ...plain(words.remove, '', words.removeAbout),
      typed: t.typed.delete,
      command: () => ({ method: 'DELETE', path }),
      onDone: () => go(to('invoices')),
    },
    invoice.status === 'failed' && plain(words.retry, 'retry', words.retryAbout),
    isDue && {
      text: words.recordPayment,
      submit: words.record,
      needs: 'payment',
      fields: [
        {
          name: 'amount_cents',
          label: words.amountIn(currency, money(due, currency)),
          type: 'number',
          value: fieldAmount(due, currency),
          isNeeded: true,
        },
        { name: 'reference', label: words.reference, isNeeded: true, placeholder: words.referenceExample },
        { name: 'paid_at', label: words.paidAt, type: 'date', hint: words.paidAtHint },
      ],
      command: ({ amount_cents = '', reference, paid_at }) => ({
        method: 'POST',
        path: '/payments',
        body: {
          payment: {
            invoice_id: invoice.svc_id,
            amount_cents: typedCents(amount_cents, currency),
            reference,
            ...(paid_at ? { paid_at } : {}),
          },
        },
      }),
    },
    isDue && {
      ...plain(words.collect, 'retry_payment', words.collectAbout(money(due, currency))),
      submit: words.charge,
      needs: 'payment',
    },
    isFinal && { ...plain(words.mail, 'resend_email', words.mailAbout) },
    isFinal && plain(words.verify, 'verify', words.verifyAbout),
    isDue && {
      text: words.writeOff,
      needs: 'invoice',
      typed: invoice.number,
      about: words.writeOffAbout(money(due, currency)),
      fields: [{ name: 'reason', label: words.reason, isNeeded: true }],
      command: ({ reason }) => ({ method: 'POST', path: `${path}/write_off`, body: { write_off: { reason } } }),
    },
    isFinal && {
      ...plain(words.void, 'void', words.voidAbout(money(invoice.total_amount_cents, currency))),
      typed: invoice.number,
    },
  ];
}

/** Asks for the PDF, and opens it once it is drawn. */
export function Download({ path }: { path: string }) {
  const open = async () => {
    announce(words.pdfBegun);
    const answer = await write<{ invoice: { file_url: string | null } }>('POST', `${path}/download`).catch(
      () => undefined,
    );
    const url = answer?.invoice.file_url;
    if (url && /^https?:/.test(url)) window.open(url, '_blank', 'noreferrer');
    else announce(words.pdfLate);
  };
  return (
    <button type="button" onClick={() => void open()}>
      PDF
    </button>
  );
}
