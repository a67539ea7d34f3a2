import { useSignal } from '@preact/signals';
import { to } from '../../frame/route.ts';
import { organization } from '../../frame/session.ts';
import { Badge } from '../../parts/badge.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Listing } from '../../parts/listing.tsx';
import { type Offer, Offers } from '../../parts/offers.tsx';
import { Facts, Page } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';

const words = t.mails;

interface Mail {
  svc_id: string;
  status: string;
  document_type: 'invoice' | 'credit_note' | 'payment_receipt' | null;
  svc_document_subject_id: string | null;
  subject: string;
  attempts: number;
  error: string | null;
  next_attempt_at: string | null;
  sent_at: string | null;
  created_at: string;
  recipients: { address: string; kind: string; state: string; error: string | null }[];
}

/** Did the mail go? */
export default function Mails() {
  const opened = useSignal<Mail | undefined>(undefined);
  return (
    <Page
      title={words.title}
      under={
        organization.value?.sandbox ? (
          <>
            {words.sandbox} <a href={to('clock', undefined, undefined, { show: 'mails' })}>{words.caught}</a>
          </>
        ) : (
          words.under
        )
      }
    >
      <Listing<Mail>
        path="/mails"
        root="mails"
        isUncounted
        everySeconds={30}
        label={words.title}
        columns={[
          {
            head: words.subject,
            cell: (mail) => (
              <>
                <button
                  type="button"
                  class="quiet small"
                  onClick={() => {
                    opened.value = mail;
                  }}
                >
                  {mail.subject}
                </button>
                {mail.error && <span class="second">{mail.error}</span>}
              </>
            ),
          },
          { head: words.state, cell: ({ status }) => <Badge of={status}>{words.states[status] ?? status}</Badge> },
          {
            head: words.to,
            cell: ({ recipients }) => recipients.map(({ address }) => address).join(', '),
            isExtra: true,
          },
          { head: words.document, cell: (mail) => <DocumentOf mail={mail} />, isExtra: true },
          { head: words.when, cell: ({ sent_at, created_at }) => <When at={sent_at ?? created_at} /> },
          { head: t.page.do, cell: (mail) => <Offers isSmall of={[resends(mail)]} /> },
        ]}
        empty={{ title: words.none, children: <p class="soft">{words.noneHint}</p> }}
      />
      {opened.value && (
        <Dialog
          title={opened.value.subject}
          onClose={() => {
            opened.value = undefined;
          }}
        >
          <Facts
            of={[
              [words.state, words.states[opened.value.status] ?? opened.value.status],
              [words.document, <DocumentOf mail={opened.value} />],
              [words.attempts, opened.value.attempts],
              [words.made, <When at={opened.value.created_at} />],
              [words.sent, opened.value.sent_at && <When at={opened.value.sent_at} />],
              [words.next, opened.value.next_attempt_at && <When at={opened.value.next_attempt_at} />],
            ]}
          />
          <Table
            label={words.recipients}
            rows={opened.value.recipients}
            keyOf={({ kind, address }) => `${kind} ${address}`}
            columns={[
              { head: words.address, cell: ({ address, kind }) => `${address}${kind === 'to' ? '' : ` (${kind})`}` },
              {
                head: words.state,
                cell: ({ state, error }) => (
                  <>
                    <Badge of={state}>{words.recipientStates[state] ?? state}</Badge>
                    {error && <span class="second">{error}</span>}
                  </>
                ),
              },
            ]}
          />
        </Dialog>
      )}
    </Page>
  );
}

const ROOMS = { invoice: 'invoices', credit_note: 'credit-notes', payment_receipt: undefined } as const;
const PATHS = { invoice: 'invoices', credit_note: 'credit_notes', payment_receipt: 'payment_receipts' } as const;

function DocumentOf({ mail: { document_type: type, svc_document_subject_id: id } }: { mail: Mail }) {
  if (!type || !id) return <span class="soft">–</span>;
  const room = ROOMS[type];
  return room ? <a href={to(room, id)}>{words.documents[type]}</a> : <span>{words.documents[type]}</span>;
}

/** What was mailed goes out once more, to the customer. */
const resends = ({ status, document_type: type, svc_document_subject_id: id }: Mail): Offer | false =>
  (status === 'failed' || status === 'sent' || status === 'unsent') &&
  type !== null &&
  id !== null && {
    text: words.resend,
    needs: type,
    about: words.resendAbout,
    command: () => ({ method: 'POST', path: `/${PATHS[type]}/${id}/resend_email` }),
  };
