import type { Temporal } from 'temporal-polyfill';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { DocumentId, OrganizationId } from '../../../platform/ids.ts';
import type { RecipientState } from '../../../platform/mail/mailer.ts';
import type { MailDocument } from './owe-mail.ts';

/** A mail that is owed to the mail server. */
export interface PendingMail {
  id: string;
  template: string | null;
  /** The document that it is about, if any. */
  kind: MailDocument['kind'] | null;
  subject_id: string | null;
  recipients: string[];
  cc: string[];
  bcc: string[];
  sender_name: string | null;
  /** The seller's own address; null: that of MAIL_FROM. */
  from_address: string | null;
  reply_to: string | null;
  subject: string;
  body: string;
  html: string | null;
  /** After the attempts before this one. */
  recipient_states: RecipientState[];
  /** This one included. */
  attempts: number;
}

/** A file that a mail carries. */
export interface AttachedFile {
  file_name: string;
  content_type: string;
  content: Uint8Array;
}

/** Mail servers take 20 to 25 MB, and a file grows by a third on its way; larger invoices are opened by the link. */
const MOST_ATTACHED_BYTES = 10_000_000;

/**
 * The files of the row `mail` in the order of `place`: the document that it is about, then those attached besides if
 * they are not too large together. Rule: payment-requests.md#the-mail-of-a-request.
 */
export const attachedFiles = (db: Db): Fragment => db`
  select file.* from (
    select wanted.id, coalesce(document.file_name, electronic.file_name) as file_name,
      coalesce(document.content_type, electronic.content_type) as content_type,
      coalesce(document.content, electronic.content) as content, wanted.place,
      sum(octet_length(coalesce(document.content, electronic.content))) filter (where wanted.place > 0) over () as bytes
    from (
      select mail.document_id as id, 0 as place
      union all
      select id, place from unnest(mail.attached_ids) with ordinality as attached (id, place)
    ) wanted
    left join documents document on document.organization_id = mail.organization_id and document.id = wanted.id
    left join e_documents electronic
      on electronic.organization_id = mail.organization_id and electronic.id = wanted.id
    where coalesce(document.content, electronic.content) is not null
  ) file
  where file.place = 0 or file.bytes <= ${MOST_ATTACHED_BYTES}`;

/** The files of a mail, as `attachedFiles` says. */
export const listAttachedFiles = ({ db, organizationId }: Scope, id: string) => db<AttachedFile[]>`
  select file.file_name, file.content_type, file.content
  from mails mail cross join lateral (${attachedFiles(db)}) file
  where mail.organization_id = ${organizationId} and mail.id = ${id}
  order by file.place`;

/** Names and sizes of the files of a mail. */
export const listAttachedSizes = ({ db, organizationId }: Scope, id: string) => db<
  { file_name: string; bytes: number }[]
>`
  select file.file_name, octet_length(file.content) as bytes
  from mails mail cross join lateral (${attachedFiles(db)}) file
  where mail.organization_id = ${organizationId} and mail.id = ${id}
  order by file.place`;

/** Id of what a mail is about. */
export async function readMailSubject({ db, organizationId }: Scope, id: string): Promise<string> {
  const [mail] = await db<{ subject_id: string }[]>`
    select subject_id from mails where organization_id = ${organizationId} and id = ${id}`;
  return mail!.subject_id;
}

/** Takes a mail that is due for one attempt; no other worker takes it before `until`. */
export async function takeMail(
  { db, organizationId }: Scope,
  id: string,
  { now, until }: { now: Temporal.Instant; until: Temporal.Instant },
): Promise<PendingMail | undefined> {
  const [mail] = await db<PendingMail[]>`
    update mails set attempts = attempts + 1, next_attempt_at = ${until}
    where organization_id = ${organizationId} and id = ${id} and status = 'pending' and next_attempt_at <= ${now}
    returning ${pendingColumns(db)}`;
  return mail;
}

/** Mails that waited for a document which will not come: they have failed. */
export const takeWaitingMails = ({ db, organizationId }: Scope, documentId: DocumentId, error: string) => db<
  PendingMail[]
>`
  update mails set status = 'failed', error = ${error}
  where organization_id = ${organizationId} and document_id = ${documentId} and status = 'waiting'
  returning ${pendingColumns(db)}`;

/** A sender that was taken back since the mail was posted is used no more: the mail then comes from MAIL_FROM. */
const pendingColumns = (db: Db): Fragment => db`
  id, coalesce(template, kind) as template, kind, subject_id, recipients, cc, bcc, sender_name, reply_to, subject, body,
  html, recipient_states, attempts,
  case when exists (
    select from mail_senders sender
    where sender.organization_id = mails.organization_id and sender.billing_entity_id = mails.billing_entity_id
      and sender.from_address = mails.from_address and sender.verified_at is not null
  ) then from_address end as from_address`;

/** Keeps a mail whose attempt is still under way from other workers. */
export const keepTaken = (
  { db, organizationId }: Scope,
  { id, attempts }: Pick<PendingMail, 'id' | 'attempts'>,
  until: Temporal.Instant,
) => db`
  update mails set next_attempt_at = ${until}
  where organization_id = ${organizationId} and id = ${id} and status = 'pending' and attempts = ${attempts}`;

/**
 * Stores the outcome of an attempt: the state of each address and the time of the next attempt, if any. Of one that was
 * begun again meanwhile, because its worker seemed to be gone, nothing is stored.
 */
export const noteAttempt = (
  { db, organizationId }: Scope,
  { id, attempts }: Pick<PendingMail, 'id' | 'attempts'>,
  { status, states, error, nextAt, sentAt }: Attempt,
) => db`
  update mails set status = ${status}, recipient_states = ${json(states)}::jsonb, error = ${error},
    next_attempt_at = ${nextAt}, sent_at = ${sentAt}
  where organization_id = ${organizationId} and id = ${id} and status = 'pending' and attempts = ${attempts}`;

export interface Attempt {
  status: 'pending' | 'sent' | 'failed';
  states: readonly RecipientState[];
  /** What was refused, and why. */
  error: string | null;
  nextAt: Temporal.Instant | null;
  sentAt: Temporal.Instant | null;
}

/** Where there is no mail server, a mail stays unsent. */
export const noteUnsent = ({ db, organizationId }: Scope, id: string) => db<{ template: string | null }[]>`
  update mails set status = 'unsent', next_attempt_at = null
  where organization_id = ${organizationId} and id = ${id} and status = 'pending'
  returning coalesce(template, kind) as template`;

/** How many mails of an organization are in work at the same time, so that each gets its turn. */
const MOST_IN_WORK = 100;

/** Mails whose next attempt is due, longest first; of no organization more than 100. */
export const listDueMails = (db: Db, now: Temporal.Instant, limit: number) => db<
  { organization_id: OrganizationId; mail_id: string }[]
>`
  ${owing(db)}
  select due.organization_id, due.mail_id
  from owing cross join lateral (
    select mail.organization_id, mail.id as mail_id, mail.next_attempt_at from mails mail
    where mail.organization_id = owing.organization_id and mail.status = 'pending' and mail.next_attempt_at <= ${now}
    order by mail.next_attempt_at limit ${MOST_IN_WORK}
  ) due
  order by due.next_attempt_at limit ${limit}`;

/** The longest due mail of an organization that is chosen by lot, so that none waits behind another's thousands. */
export async function findDueMail(
  db: Db,
  now: Temporal.Instant,
): Promise<{ organization_id: OrganizationId; mail_id: string } | undefined> {
  const [row] = await db<{ organization_id: OrganizationId; mail_id: string }[]>`
    ${owing(db)}
    select due.organization_id, due.mail_id
    from owing cross join lateral (
      select mail.organization_id, mail.id as mail_id from mails mail
      where mail.organization_id = owing.organization_id and mail.status = 'pending' and mail.next_attempt_at <= ${now}
      order by mail.next_attempt_at limit 1
    ) due
    order by random() limit 1`;
  return row;
}

/** Organizations that owe mails, found one by one in the index. */
const owing = (db: Db): Fragment => db`
  with recursive owing as (
    (select organization_id from mails where status = 'pending' order by organization_id limit 1)
    union all
    select (
      select mail.organization_id from mails mail
      where mail.status = 'pending' and mail.organization_id > owing.organization_id
      order by mail.organization_id limit 1)
    from owing where owing.organization_id is not null
  )`;
