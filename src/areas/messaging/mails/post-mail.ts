import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { columnValues } from '../../../platform/db/values.ts';
import type { DocumentId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { announce } from '../../../platform/reactions.ts';
import { mailFailed } from '../announcements.ts';
import { askForDocument } from '../documents/ask-for-document.ts';
import type { DocumentKind } from '../documents/queries.ts';
import { takeWaitingMails } from './queries.ts';

/** Hands a mail to the mail server, over the network. */
export const SEND_MAIL_JOB = 'mail.send';

export interface Mail {
  to: readonly string[];
  cc?: readonly string[];
  bcc?: readonly string[];
  senderName?: string | null;
  replyTo?: string | null;
  subject: string;
  text: string;
  /** What is attached, drawn first where it is not yet. */
  document?: { kind: DocumentKind; subjectId: string; number: string };
  /** Sent because the document became final: once. */
  isAutomatic?: boolean;
}

/**
 * Posts a mail in the caller's transaction. A sandbox stores it to be read; mails of other organizations are sent to
 * the mail server by a repeated job, and without a server they stay unsent, which is logged. A mail with a document
 * waits until that is drawn.
 *
 * @returns whether it was posted: not without an addressee, nor an automatic one twice
 * Rules: organizations.md, provider-connections.md#sandbox-provider.
 */
export async function postMail(ctx: Context, mail: Mail): Promise<boolean> {
  if (mail.to.length === 0) return false;
  const { db, organizationId } = ctx;
  const { document } = mail;
  const id = newId();
  const documentId = document === undefined ? null : await askForDocument(ctx, document);
  const posted = await db`
    insert into mails ${db(
      columnValues({
        id,
        organization_id: organizationId,
        kind: document?.kind ?? null,
        subject_id: document?.subjectId ?? null,
        document_id: documentId,
        is_automatic: mail.isAutomatic ?? false,
        recipients: mail.to,
        cc: mail.cc ?? [],
        bcc: mail.bcc ?? [],
        sender_name: mail.senderName ?? null,
        reply_to: mail.replyTo ?? null,
        subject: mail.subject,
        body: mail.text,
        status: 'waiting',
        created_at: ctx.now(),
      }),
    )}
    on conflict do nothing returning id`;
  if (posted.length === 0) return false;
  if (documentId === null || (await isDrawn(ctx, documentId))) await release(ctx, [id]);
  return true;
}

/** Releases mails that waited for a document; to be called in the transaction that stored it, afterwards. */
export async function releaseMails(ctx: Context, documentId: DocumentId): Promise<void> {
  const waiting = await ctx.db<{ id: string }[]>`
    select id from mails
    where organization_id = ${ctx.organizationId} and document_id = ${documentId} and status = 'waiting' order by id`;
  await release(
    ctx,
    waiting.map(({ id }) => id),
  );
}

/** What addressees miss for good, as it stands in the audit trail. */
const NOT_DRAWN = 'The document of the mail cannot be drawn';

/** Fails mails whose document was given up, and announces that. */
export async function failWaitingMails(ctx: Context, documentId: DocumentId): Promise<void> {
  for (const mail of await takeWaitingMails(ctx, documentId, NOT_DRAWN))
    await announce(ctx, mailFailed, { mail, error: NOT_DRAWN });
}

// The row is held: the worker that stores the document waits for this transaction and finds the mail.
async function isDrawn(ctx: Context, documentId: DocumentId): Promise<boolean> {
  const [row] = await ctx.db<{ drawn: boolean }[]>`
    select content is not null as drawn from documents
    where organization_id = ${ctx.organizationId} and id = ${documentId} for share`;
  return row?.drawn === true;
}

async function release(ctx: Context, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const { db, organizationId } = ctx;
  const status = ctx.sandbox ? 'sent' : ctx.config.SMTP_URL === undefined ? 'unsent' : 'pending';
  const released = await db<{ id: string }[]>`
    update mails set status = ${status}, sent_at = ${status === 'sent' ? realNow() : null},
      next_attempt_at = ${status === 'pending' ? realNow() : null}
    where organization_id = ${organizationId} and id = any (${ids}) and status = 'waiting'
    returning id`;
  const mails = released.map(({ id }) => id);
  if (status === 'sent') await keep(ctx, mails);
  for (const id of mails) {
    if (status === 'pending') ctx.after({ nudge: SEND_MAIL_JOB, payload: { mail_id: id } });
    if (status === 'unsent') ctx.log.warn({ mailId: id }, 'mail not sent: no SMTP_URL');
  }
}

const keep = (ctx: Context, ids: readonly string[]) => ctx.db`
  insert into sandbox_mails (id, organization_id, recipients, bcc, subject, body, attachments, created_at)
  select mail.id, mail.organization_id, mail.recipients || mail.cc, mail.bcc, mail.subject, mail.body,
    case when document.id is null then '[]' else jsonb_build_array(jsonb_build_object('file_name', document.file_name,
      'content_type', document.content_type, 'size_bytes', octet_length(document.content),
      'svc_document_id', document.id)) end,
    ${ctx.now()}
  from mails mail
  left join documents document on document.organization_id = mail.organization_id and document.id = mail.document_id
  where mail.organization_id = ${ctx.organizationId} and mail.id = any (${ids})`;
