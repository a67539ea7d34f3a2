import { to } from '../../frame/route.ts';
import { useRead } from '../../frame/use-read.ts';
import { Badge } from '../../parts/badge.tsx';
import { NamedCustomer } from '../../parts/customer-names.tsx';
import { type Offer, Offers } from '../../parts/offers.tsx';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { Empty, Shown } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import { kindOf, MailBadge, retries } from './log.tsx';
import { MailView } from './mail-view.tsx';
import type { Mail, WholeMail } from './records.ts';

const words = t.mails;

/** One mail: whether it went, to whom, and what it says. */
export function MailPage({ id }: { id: string }) {
  const reading = useRead<{ mail: WholeMail }>(`/mails/${encodeURIComponent(id)}`);
  return (
    <Shown of={reading} rows={8}>
      {({ mail }) => (
        <Page
          title={mail.subject}
          badge={<MailBadge of={mail.status} />}
          back={{ href: to('mails'), text: words.title }}
          actions={<Offers of={[retries(mail), resends(mail)]} />}
        >
          {mail.error && <p class="notice bad">{mail.error}</p>}
          <div class="card padded">
            <Facts
              of={[
                [words.kind, kindOf(mail.template)],
                [words.language, mail.locale === null ? null : (words.languages[mail.locale] ?? mail.locale)],
                [words.customer, <CustomerOf mail={mail} />],
                [words.about, <RecordOf mail={mail} />],
                [words.made, <When at={mail.created_at} />],
                [words.sent, mail.sent_at && <When at={mail.sent_at} />],
                ...(mail.attempts > 0 ? [[words.attempts, mail.attempts] as const] : []),
                ...(mail.next_attempt_at ? [[words.next, <When at={mail.next_attempt_at} />] as const] : []),
                ...(mail.attachments.length > 0 ? [[words.files, <Files of={mail.attachments} />] as const] : []),
              ]}
            />
          </div>
          <Section title={words.recipients}>
            <Recipients mail={mail} />
          </Section>
          <Section title={words.asSent}>
            {mail.text === '' ? <Empty title={words.textsGone} /> : <MailView html={mail.html} text={mail.text} />}
          </Section>
        </Page>
      )}
    </Shown>
  );
}

const Recipients = ({ mail: { recipients } }: { mail: Mail }) => (
  <Table
    label={words.recipients}
    rows={recipients}
    keyOf={({ kind, address }) => `${kind} ${address}`}
    columns={[
      { head: words.address, cell: ({ address, kind }) => `${address}${kind === 'to' ? '' : ` (${kind})`}` },
      {
        head: words.state,
        cell: ({ state, error }) => (
          <>
            <Badge of={state} tone={state === 'accepted' ? 'good' : state === 'refused' ? 'bad' : undefined}>
              {words.recipientStates[state] ?? state}
            </Badge>
            {error && <span class="second">{error}</span>}
          </>
        ),
      },
    ]}
  />
);

const BYTES_OF_KB = 1000;

const Files = ({ of }: { of: WholeMail['attachments'] }) => (
  <>
    {of
      .map(({ file_name, bytes }) => `${file_name} (${words.bytes(Math.ceil(bytes / BYTES_OF_KB).toLocaleString())})`)
      .join(', ')}
  </>
);

function CustomerOf({ mail: { external_customer_id: id } }: { mail: Mail }) {
  return id === null ? <span class="soft">–</span> : <NamedCustomer id={id} />;
}

const ROOMS: Readonly<Record<string, string>> = {
  Invoice: 'invoices',
  CreditNote: 'credit-notes',
  Wallet: 'wallets',
  WebhookEndpoint: 'webhooks',
};

/** The record that it is about, where the console has a page for it. */
function RecordOf({ mail: { resource_type: type, svc_resource_id: id, document_type: document } }: { mail: Mail }) {
  const of = type ?? (document === 'invoice' ? 'Invoice' : document === 'credit_note' ? 'CreditNote' : '');
  if (of === 'PaymentRequest' && id !== null) return <a href={to('payments', id, 'request')}>{words.records[of]}</a>;
  const room = ROOMS[of];
  if (room === undefined || id === null) return <span class="soft">–</span>;
  return <a href={to(room, id)}>{words.records[of]}</a>;
}

const PATHS = { invoice: 'invoices', credit_note: 'credit_notes', payment_receipt: 'payment_receipts' } as const;

/** A document that was mailed goes out once more, to the customer. */
const resends = ({ status, document_type: type, svc_document_subject_id: id }: Mail): Offer | false =>
  status === 'sent' &&
  type !== null &&
  id !== null && {
    text: words.resend,
    needs: type,
    about: words.resendAbout,
    command: () => ({ method: 'POST', path: `/${PATHS[type]}/${id}/resend_email` }),
  };
