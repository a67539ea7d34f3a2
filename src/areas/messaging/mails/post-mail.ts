import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { columnValues } from '../../../platform/db/values.ts';
import type { CustomerId, DocumentId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { announce } from '../../../platform/reactions.ts';
import { mailFailed } from '../announcements.ts';
import { askForDocument } from '../documents/ask-for-document.ts';
import type { DocumentKind } from '../documents/queries.ts';
import type { DocumentLocale } from '../documents/texts/by-locale.ts';
import { announceFailure } from './announce.ts';
import type { MailContent } from './compose-mail.ts';
import type { MailIssuer } from './mail-issuer.ts';
import { readSender } from './mail-sender.ts';
import { attachedFiles, takeWaitingMails } from './queries.ts';
import type { TemplateName } from './templates.ts';

/** Hands a mail to the mail server, over the network. */
export const SEND_MAIL_JOB = 'mail.send';

export interface Mail {
  to: readonly string[];
  cc?: readonly string[];
  bcc?: readonly string[];
  /** What it is sent by, in whose name, and to which customer. */
  template: TemplateName | null;
  locale: DocumentLocale;
  issuer: Pick<MailIssuer, 'billing_entity_id' | 'name' | 'email'>;
  customerId: CustomerId | null;
  /** The record that it is about. */
  resource: { type: string; id: string } | null;
  /** Of an automatic mail: why it is sent. One of each template, record and occasion exists. */
  occasion?: string;
  subject: string;
  text: string;
  /** The same words as a page. */
  html?: string;
  /** What is attached, drawn first where it is not yet; a mail whose document cannot be drawn fails. */
  document?: MailedDocument;
  /** What is attached besides, where it can be drawn and all together is not too large. */
  attached?: readonly Attached[];
  /** Electronic documents that are attached as well, once they are made. */
  electronicIds?: readonly DocumentId[];
  /** Sent because the document became final: once. */
  isAutomatic?: boolean;
}

/** By what, in whose name, in which language and to which customer a mail is sent. */
export const addressed = ({ template, locale, issuer, customer }: MailContent) => ({
  template,
  locale,
  issuer,
  customerId: customer.id,
});

interface Attached {
  kind: DocumentKind;
  subjectId: string;
  number: string;
}

interface MailedDocument extends Attached {
  /** Whether it changes no more. The page of one that does is drawn for this mail alone, and is not kept as its own. */
  isFinal: boolean;
}

/**
 * Posts a mail in the caller's transaction. A sandbox stores it to be read; mails of other organizations are sent to
 * the mail server by a repeated job, and without a server they stay unsent, which is logged. A mail with
 * documents waits until they are drawn.
 *
 * @returns whether it was posted: not without an addressee, nor an automatic one twice
 * Rules: mails.md#each-mail-once, organizations.md, provider-connections.md#sandbox-provider.
 */
export async function postMail(ctx: Context, mail: Mail): Promise<boolean> {
  if (mail.to.length === 0) return false;
  const { db, organizationId } = ctx;
  const { document } = mail;
  const id = newId();
  const page = document?.isFinal === false ? { ...document, kind: 'mailed_draft' as const, subjectId: id } : document;
  const documentId = page === undefined ? null : await askForDocument(ctx, page);
  const attachedIds: string[] = [...(mail.electronicIds ?? [])];
  for (const each of mail.attached ?? []) attachedIds.push(await askForDocument(ctx, each));
  const sender = await readSender(ctx, mail.issuer);
  const posted = await db`
    insert into mails ${db(
      columnValues({
        id,
        organization_id: organizationId,
        kind: document?.kind ?? null,
        subject_id: document?.subjectId ?? null,
        document_id: documentId,
        attached_ids: attachedIds,
        is_automatic: mail.isAutomatic ?? false,
        recipients: mail.to,
        cc: mail.cc ?? [],
        bcc: [...new Set([...(mail.bcc ?? []), ...sender.bcc])],
        template: mail.template,
        locale: mail.locale,
        occasion: mail.occasion ?? '',
        customer_id: mail.customerId,
        billing_entity_id: mail.issuer.billing_entity_id,
        resource_type: mail.resource?.type ?? null,
        resource_id: mail.resource?.id ?? null,
        from_address: sender.address,
        sender_name: sender.name,
        reply_to: sender.replyTo,
        subject: mail.subject,
        body: mail.text,
        html: mail.html ?? null,
        status: 'waiting',
        created_at: ctx.now(),
      }),
    )}
    on conflict do nothing returning id`;
  if (posted.length === 0) return false;
  await holdDocuments(ctx, documentId === null ? attachedIds : [documentId, ...attachedIds]);
  await release(ctx, [id]);
  return true;
}

/**
 * Releases mails that waited for a document and wait for no other; to be called in the transaction that stored it,
 * afterwards. The mails are locked before it is asked what they still wait for: of two transactions that store the last
 * two documents of a mail, the second sees both.
 */
export async function releaseMails(ctx: Context, documentId: DocumentId): Promise<void> {
  const waiting = await ctx.db<{ id: string }[]>`
    select id from mails
    where organization_id = ${ctx.organizationId} and status = 'waiting'
      and (document_id = ${documentId} or attached_ids @> ${[documentId]}::uuid[])
    order by id for update`;
  await release(
    ctx,
    waiting.map(({ id }) => id),
  );
}

/** Releases a mail that waits once more, if it waits for no document. */
export const releaseAgain = (ctx: Context, id: string): Promise<void> => release(ctx, [id]);

/** What addressees miss for good, as it stands in the audit trail. */
const NOT_DRAWN = 'The document of the mail cannot be drawn';

/** Fails mails whose document was given up, and announces that; mails that it was to be attached to go without it. */
export async function failWaitingMails(ctx: Context, documentId: DocumentId): Promise<void> {
  for (const mail of await takeWaitingMails(ctx, documentId, NOT_DRAWN)) {
    await announceFailure(ctx, mail.id);
    await announce(ctx, mailFailed, { mail, error: NOT_DRAWN });
  }
  await releaseMails(ctx, documentId);
}

// The rows are held: the workers that store the documents wait for this transaction and find the mail.
async function holdDocuments({ db, organizationId }: Context, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await db`
    select from documents where organization_id = ${organizationId} and id = any (${ids}) order by id for share`;
  await db`
    select from e_documents where organization_id = ${organizationId} and id = any (${ids}) order by id for share`;
}

/** Releases those of the mails that wait for no document. */
async function release(ctx: Context, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const { db, organizationId } = ctx;
  const status = ctx.sandbox ? 'sent' : ctx.config.SMTP_URL === undefined ? 'unsent' : 'pending';
  const released = await db<{ id: string }[]>`
    update mails mail set status = ${status}, sent_at = ${status === 'sent' ? realNow() : null},
      next_attempt_at = ${status === 'pending' ? realNow() : null}
    where mail.organization_id = ${organizationId} and mail.id = any (${ids}) and mail.status = 'waiting'
      and not exists (
        select from documents document
        where document.organization_id = mail.organization_id and document.content is null
          and document.id = any (mail.attached_ids || mail.document_id)
          and (document.given_up_at is null or document.id = mail.document_id)
      )
      and not exists (
        select from e_documents electronic
        where electronic.organization_id = mail.organization_id and electronic.status = 'pending'
          and electronic.id = any (mail.attached_ids)
      )
    returning mail.id`;
  const mails = released.map(({ id }) => id);
  if (status === 'sent') await keep(ctx, mails);
  for (const id of mails) {
    if (status === 'pending') ctx.after({ nudge: SEND_MAIL_JOB, payload: { mail_id: id } });
    if (status === 'unsent') ctx.log.warn({ mailId: id }, 'mail not sent: no SMTP_URL');
  }
}

const keep = (ctx: Context, ids: readonly string[]) => ctx.db`
  insert into sandbox_mails (id, organization_id, recipients, bcc, subject, body, html, attachments, created_at)
  select mail.id, mail.organization_id, mail.recipients || mail.cc, mail.bcc, mail.subject, mail.body, mail.html,
    (select coalesce(jsonb_agg(jsonb_build_object('file_name', file.file_name, 'content_type', file.content_type,
       'size_bytes', octet_length(file.content), 'svc_document_id', file.id) order by file.place), '[]')
     from (${attachedFiles(ctx.db)}) file),
    ${ctx.now()}
  from mails mail
  where mail.organization_id = ${ctx.organizationId} and mail.id = any (${ids})`;
