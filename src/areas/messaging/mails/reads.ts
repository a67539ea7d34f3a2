import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import { isUuid } from '../../../platform/ids.ts';
import { boundedPage } from '../../../platform/lists/bounded-page.ts';
import { countRecords } from '../../../platform/lists/count.ts';
import { limitOf, pageMeta } from '../../../platform/lists/pagination.ts';
import type { RecipientState } from '../../../platform/mail/mailer.ts';
import { refuse } from '../../../platform/refusal.ts';
import { seconds } from '../../../platform/schema/view.ts';
import { withLinksAsMarks } from './pay-link.ts';
import { listAttachedSizes } from './queries.ts';
import type { MailEnvelope, MailList, MailsQuery } from './schema.ts';

type MailView = MailList['mails'][number];

interface MailRow
  extends Pick<
    MailView,
    'status' | 'subject' | 'attempts' | 'error' | 'template' | 'locale' | 'external_customer_id' | 'resource_type'
  > {
  id: string;
  kind: MailView['document_type'];
  subject_id: string | null;
  resource_id: string | null;
  recipients: string[];
  cc: string[];
  bcc: string[];
  recipient_states: RecipientState[];
  next_attempt_at: Temporal.Instant | null;
  sent_at: Temporal.Instant | null;
  created_at: Temporal.Instant;
}

// Of a mail that was stored before mails had templates, its document tells which one it is.
const columns = (db: Db): Fragment => db`
  mail.id, mail.status, mail.kind, mail.subject_id, coalesce(mail.template, mail.kind) as template, mail.locale,
  mail.resource_type, coalesce(mail.resource_id, mail.subject_id) as resource_id, mail.subject, mail.attempts,
  mail.error, mail.recipients, mail.cc, mail.bcc, mail.recipient_states, mail.next_attempt_at, mail.sent_at,
  mail.created_at, customer.external_id as external_customer_id`;

const tables = (db: Db): Fragment => db`
  mails mail
  left join customers customer on customer.organization_id = mail.organization_id and customer.id = mail.customer_id`;

/** A page of the mails, newest first; those of a sandbox are sent nowhere and can be read at /sandbox/mails too. */
export async function showMails(ctx: Context, { query }: { query: MailsQuery }): Promise<MailList> {
  const { db } = ctx;
  const { limit, offset } = limitOf(query);
  const where = conditionOf(ctx, query);
  const { rows, total } = await boundedPage(query, {
    rows: () => db<MailRow[]>`
      select ${columns(db)} from ${tables(db)} where ${where}
      order by mail.id desc limit ${limit} offset ${offset}`,
    count: () => countRecords(db, db`mails mail where ${where}`),
  });
  return { mails: rows.map(mailView), meta: pageMeta(query, total) };
}

/** A row of the log. */
export async function readMailView(
  { db, organizationId }: Pick<Context, 'db' | 'organizationId'>,
  id: string,
): Promise<MailView> {
  const [row] = await db<MailRow[]>`
    select ${columns(db)} from ${tables(db)} where mail.organization_id = ${organizationId} and mail.id = ${id}`;
  return mailView(row!);
}

function conditionOf({ db, organizationId }: Context, query: MailsQuery): Fragment {
  const { resource_id: resourceId } = query;
  return db`
    mail.organization_id = ${organizationId}
    ${
      query.external_customer_id === undefined
        ? db``
        : db`and mail.customer_id = any (array(
            select owner.id from customers owner
            where owner.organization_id = ${organizationId} and owner.external_id = ${query.external_customer_id}))`
    }
    ${query.templates ? db`and coalesce(mail.template, mail.kind) = any (${query.templates})` : db``}
    ${query.statuses ? db`and mail.status = any (${query.statuses})` : db``}
    ${resourceId === undefined ? db`` : isUuid(resourceId) ? db`and mail.resource_id = ${resourceId}` : db`and false`}
    ${query.from_date ? db`and mail.created_at >= ${query.from_date}` : db``}
    ${query.to_date ? db`and mail.created_at < ${query.to_date}` : db``}`;
}

/** A mail as it is sent; its links, which let in, read as `#`. @throws Refusal 404 mail */
export async function showMail(ctx: Context, { svc_id: id }: { svc_id: string }): Promise<MailEnvelope> {
  const { db, organizationId } = ctx;
  const [row] = isUuid(id)
    ? await db<(MailRow & { body: string; html: string | null })[]>`
        select ${columns(db)}, mail.body, mail.html from ${tables(db)}
        where mail.organization_id = ${organizationId} and mail.id = ${id}`
    : [];
  if (!row) throw refuse.notFound('mail');
  return {
    mail: {
      ...mailView(row),
      html: row.html === null ? null : withLinksAsMarks(row.html),
      text: withLinksAsMarks(row.body),
      attachments: [...(await listAttachedSizes(ctx, id))],
    },
  };
}

const mailView = (mail: MailRow): MailView => ({
  svc_id: mail.id,
  template: mail.template,
  locale: mail.locale,
  status: mail.status,
  to: mail.recipients,
  cc: mail.cc,
  bcc: mail.bcc,
  subject: mail.subject,
  external_customer_id: mail.external_customer_id,
  resource_type: mail.resource_type,
  svc_resource_id: mail.resource_id,
  document_type: mail.kind,
  svc_document_subject_id: mail.subject_id,
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
