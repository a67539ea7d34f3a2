import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import { countRecords } from '../../../platform/lists/count.ts';
import { limitOf, pageMeta, pageOf } from '../../../platform/lists/pagination.ts';
import type { RecipientState } from '../../../platform/mail/mailer.ts';
import { seconds } from '../../../platform/schema/view.ts';
import type { MailList, MailsQuery } from './schema.ts';

type MailView = MailList['mails'][number];

interface MailRow extends Pick<MailView, 'status' | 'subject' | 'attempts' | 'error'> {
  id: string;
  kind: MailView['document_type'];
  subject_id: string | null;
  recipients: string[];
  cc: string[];
  bcc: string[];
  recipient_states: RecipientState[];
  next_attempt_at: Temporal.Instant | null;
  sent_at: Temporal.Instant | null;
  created_at: Temporal.Instant;
}

/** A page of the mails, newest first; those of a sandbox are sent nowhere and can be read at /sandbox/mails. */
export async function showMails(ctx: Context, { query }: { query: MailsQuery }): Promise<MailList> {
  const { db, organizationId } = ctx;
  const { limit, offset } = limitOf(query);
  const { rows, total } = await pageOf(query, {
    rows: () => db<MailRow[]>`
      select id, status, kind, subject_id, subject, attempts, error, recipients, cc, bcc, recipient_states,
        next_attempt_at, sent_at, created_at
      from mails where organization_id = ${organizationId}
      order by id desc limit ${limit} offset ${offset}`,
    count: () => countRecords(db, db`mails where organization_id = ${organizationId}`),
  });
  return { mails: rows.map(mailView), meta: pageMeta(query, total) };
}

const mailView = (mail: MailRow): MailView => ({
  svc_id: mail.id,
  status: mail.status,
  document_type: mail.kind,
  svc_document_subject_id: mail.subject_id,
  subject: mail.subject,
  attempts: mail.attempts,
  error: mail.error,
  next_attempt_at: mail.next_attempt_at && seconds(mail.next_attempt_at),
  sent_at: mail.sent_at && seconds(mail.sent_at),
  created_at: seconds(mail.created_at),
  recipients: (['to', 'cc', 'bcc'] as const).flatMap((kind) =>
    mail[kind === 'to' ? 'recipients' : kind].map((address) => recipientView(mail, address, kind)),
  ),
});

/** An address without an attempt is open; of a mail sent before states were stored, accepted. */
function recipientView(mail: MailRow, address: string, kind: 'to' | 'cc' | 'bcc') {
  const known = mail.recipient_states.find((each) => each.address === address);
  if (known) return { address, kind, state: known.state, error: known.error };
  return { address, kind, state: mail.status === 'sent' ? ('accepted' as const) : ('open' as const), error: null };
}
