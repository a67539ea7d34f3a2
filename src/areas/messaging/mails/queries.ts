import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { DocumentId, OrganizationId } from '../../../platform/ids.ts';
import type { RecipientState } from '../../../platform/mail/mailer.ts';
import type { MailDocument } from './owe-mail.ts';

/** A mail that is owed to the mail server, with what is attached. */
export interface PendingMail {
  id: string;
  /** The document that it is about, if any. */
  kind: MailDocument['kind'] | null;
  subject_id: string | null;
  recipients: string[];
  cc: string[];
  bcc: string[];
  sender_name: string | null;
  reply_to: string | null;
  subject: string;
  body: string;
  /** After the attempts before this one. */
  recipient_states: RecipientState[];
  /** This one included. */
  attempts: number;
  file_name: string | null;
  content_type: string | null;
  content: Uint8Array | null;
}

/** Takes a mail that is due for one attempt; no other worker takes it before `until`. */
export async function takeMail(
  { db, organizationId }: Scope,
  id: string,
  { now, until }: { now: Temporal.Instant; until: Temporal.Instant },
): Promise<PendingMail | undefined> {
  const [mail] = await db<PendingMail[]>`
    with taken as (
      update mails set attempts = attempts + 1, next_attempt_at = ${until}
      where organization_id = ${organizationId} and id = ${id} and status = 'pending' and next_attempt_at <= ${now}
      returning *
    )
    select taken.id, taken.kind, taken.subject_id, taken.recipients, taken.cc, taken.bcc, taken.sender_name,
      taken.reply_to, taken.subject, taken.body, taken.recipient_states, taken.attempts, document.file_name,
      document.content_type, document.content
    from taken
    left join documents document
      on document.organization_id = taken.organization_id and document.id = taken.document_id`;
  return mail;
}

/** Mails that waited for a document which will not come: they have failed. */
export const takeWaitingMails = ({ db, organizationId }: Scope, documentId: DocumentId, error: string) => db<
  PendingMail[]
>`
  update mails set status = 'failed', error = ${error}
  where organization_id = ${organizationId} and document_id = ${documentId} and status = 'waiting'
  returning id, kind, subject_id, recipients, cc, bcc, sender_name, reply_to, subject, body, recipient_states, attempts,
    null as file_name, null as content_type, null as content`;

/** Stores the outcome of an attempt: the state of each address and the time of the next attempt, if any. */
export const noteAttempt = (
  { db, organizationId }: Scope,
  id: string,
  { status, states, error, nextAt, sentAt }: Attempt,
) => db`
  update mails set status = ${status}, recipient_states = ${json(states)}::jsonb, error = ${error},
    next_attempt_at = ${nextAt}, sent_at = ${sentAt}
  where organization_id = ${organizationId} and id = ${id}`;

export interface Attempt {
  status: 'pending' | 'sent' | 'failed';
  states: readonly RecipientState[];
  /** What was refused, and why. */
  error: string | null;
  nextAt: Temporal.Instant | null;
  sentAt: Temporal.Instant | null;
}

/** Where there is no mail server, a mail stays unsent. */
export const noteUnsent = ({ db, organizationId }: Scope, id: string) => db`
  update mails set status = 'unsent', next_attempt_at = null
  where organization_id = ${organizationId} and id = ${id} and status = 'pending'`;

/** Mails whose next attempt is due, longest first. */
export const listDueMails = (db: Db, now: Temporal.Instant, limit: number) => db<
  { organization_id: OrganizationId; mail_id: string }[]
>`
  select organization_id, id as mail_id from mails
  where status = 'pending' and next_attempt_at <= ${now}
  order by next_attempt_at limit ${limit}`;
