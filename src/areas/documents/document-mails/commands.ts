import { assert } from '../../../engine/assert.ts';
import type { Context } from '../../../platform/context.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import type { PayloadOf } from '../../../platform/reactions.ts';
import { refuse } from '../../../platform/refusal.ts';
import { mailAddressesOf, mailedName } from '../../customers/customers/mail-addressee.ts';
import { type CustomerRow, readCustomer } from '../../customers/customers/queries.ts';
import { getVisibleInvoice, readInvoice } from '../../invoices/invoices/queries.ts';
import type { mailFailed } from '../../messaging/announcements.ts';
import { formatOf } from '../../messaging/documents/number-and-date-formats.ts';
import { languageOf } from '../../messaging/documents/texts/by-locale.ts';
import { composeMail, type MailContent } from '../../messaging/mails/compose-mail.ts';
import { readMailIssuer } from '../../messaging/mails/mail-issuer.ts';
import type { MailDocument } from '../../messaging/mails/owe-mail.ts';
import { payMark, withLinksAsMarks } from '../../messaging/mails/pay-link.ts';
import { addressed, postMail } from '../../messaging/mails/post-mail.ts';
import { payTextsOf } from '../../messaging/pay-texts/by-locale.ts';
import { eDocumentToMail } from '../e-documents/commands.ts';
import { documentSubjects } from '../render-documents/document-subjects.ts';
import { leftToPay } from '../render-documents/invoice-model.ts';
import { contentOf } from './document-mail-words.ts';
import { type Mailed, mailedDocuments, mailedInvoice } from './mailed-documents.ts';
import type { ResendEmail } from './schema.ts';

interface Asked {
  svc_id: string;
  body?: ResendEmail;
}

const BODY_PREVIEW_LENGTH = 500;

/** @throws Refusal 404 invoice; as `resend`. Rule: invoice-operations.md#operations. */
export const resendInvoice = async (ctx: Context, { svc_id, body }: Asked) =>
  resend(ctx, await mailedDocuments.invoice(ctx, svc_id), body);

/** @throws Refusal 404 credit_note; as `resend`. Rule: credit-notes.md#endpoints. */
export const resendCreditNote = async (ctx: Context, { svc_id, body }: Asked) =>
  resend(ctx, await mailedDocuments.credit_note(ctx, svc_id), body);

/** @throws Refusal 404 payment_receipt; as `resend`. Rule: payments.md#receipts. */
export const resendReceipt = async (ctx: Context, { svc_id, body }: Asked) =>
  resend(ctx, await mailedDocuments.payment_receipt(ctx, svc_id), body);

/**
 * Step `mail-document`: mails a document that became final to its customer, once, if its billing entity still says so
 * and the customer has an address. Rules: organizations.md, payments.md#receipts, invoice-operations.md#operations.
 */
export async function mailDocument(ctx: Context, { kind, subject_id }: MailDocument): Promise<void> {
  const mailed = await mailedDocuments[kind](ctx, subject_id);
  const sender = await readSender(ctx, mailed);
  if (!sender.email_settings.includes(mailed.setting)) return;
  const customer = await readCustomer(ctx, mailed.customer_id);
  await post(ctx, mailed, customer, { to: mailAddressesOf(customer), cc: [], bcc: [], isAutomatic: true });
}

/**
 * Mails a document again, to its customer unless other addressees are given.
 *
 * @throws Refusal 405 email_settings_disabled, when the billing entity does not send such mails; 422 to, without any
 *   addressee; 403 feature_unavailable, where mails have no way to go: outside of sandboxes without a mail server
 */
async function resend(ctx: Context, mailed: Mailed, asked: ResendEmail | undefined): Promise<null> {
  const sender = await readSender(ctx, mailed);
  if (!sender.email_settings.includes(mailed.setting)) throw refuse.notAllowed('email_settings_disabled');
  if (!ctx.sandbox && ctx.config.SMTP_URL === undefined) throw refuse.forbidden('feature_unavailable');
  const customer = await readCustomer(ctx, mailed.customer_id);
  const to = asked?.to?.length ? asked.to : mailAddressesOf(customer);
  if (to.length === 0) throw refuse.invalid({ to: ['value_is_mandatory'] });
  await post(ctx, mailed, customer, { to, cc: asked?.cc ?? [], bcc: asked?.bcc ?? [], isAutomatic: false });
  return null;
}

interface Addressees {
  to: readonly string[];
  cc: readonly string[];
  bcc: readonly string[];
  isAutomatic: boolean;
}

async function post(
  ctx: Context,
  mailed: Mailed,
  customer: CustomerRow,
  { to, cc, bcc, isAutomatic }: Addressees,
): Promise<void> {
  const content = await readDocumentContent(ctx, mailed, customer);
  const { subject, text, html } = await composeMail(ctx, content);
  const { kind, id: subjectId, isFinal } = mailed;
  const hasElectronic = kind !== 'payment_receipt' && isFinal;
  const isPosted = await postMail(ctx, {
    ...addressed(content),
    resource: { type: mailed.resourceType, id: mailed.id },
    to,
    cc,
    bcc,
    subject,
    text,
    html,
    document: { kind, subjectId, number: mailed.number, isFinal },
    electronicIds: hasElectronic ? await eDocumentToMail(ctx, { kind, subject_id: subjectId }) : [],
    isAutomatic,
  });
  if (isPosted) record(ctx, mailed, customer, { status: isAutomatic ? 'sent' : 'resent', subject, text, to, cc, bcc });
}

/**
 * What the mail of a document says: what its page says, and how what is left is paid where the page has a link to that.
 */
export async function readDocumentContent(
  ctx: Context,
  { kind, id, billing_entity_id }: Mailed,
  customer: CustomerRow,
): Promise<MailContent> {
  const model = await documentSubjects[kind].read(ctx, id);
  assert(!(model instanceof Uint8Array), 'what is mailed is a page');
  const { locale } = languageOf(model.language, null);
  const issuer = await readMailIssuer(ctx, billing_entity_id);
  const words = {
    template: kind,
    locale,
    issuer: { ...issuer, logo_url: model.logo },
    customer: { id: customer.id, name: mailedName(customer) },
    model,
    texts: payTextsOf(locale),
  };
  const invoice = kind === 'invoice' ? await getVisibleInvoice(ctx, id) : undefined;
  const left = invoice === undefined ? 0 : leftToPay(invoice);
  if (invoice === undefined || left === 0) return contentOf({ ...words, due: null, pay: null });
  const format = formatOf(locale, invoice.currency, invoice.timezone);
  const due = { amount: format.amount(left), date: format.date(invoice.payment_due_date) };
  if (model.headline?.link === undefined) return contentOf({ ...words, due, pay: null });
  const pay = { mark: payMark({ type: 'Invoice', id }), linkDays: ctx.config.PAY_LINK_DAYS };
  return contentOf({ ...words, due, pay });
}

/**
 * Writes into the audit trail that a mail of a document was given up, and why. Rule: logs.md#activity-logs
 * `email.sent`.
 */
export async function recordMailFailed(ctx: Context, { mail, error }: PayloadOf<typeof mailFailed>): Promise<void> {
  if (mail.kind === null || mail.subject_id === null) return;
  // A draft may have been deleted since; what happened to its mail is recorded all the same.
  const mailed =
    mail.kind === 'invoice'
      ? mailedInvoice(await readInvoice(ctx, mail.subject_id as InvoiceId))
      : await mailedDocuments[mail.kind](ctx, mail.subject_id);
  const customer = await readCustomer(ctx, mailed.customer_id);
  const { subject, body: text, recipients: to, cc, bcc } = mail;
  record(ctx, mailed, customer, { status: 'failed', subject, text, to, cc, bcc, error });
}

interface Mailing extends Omit<Addressees, 'isAutomatic'> {
  status: 'sent' | 'resent' | 'failed';
  subject: string;
  text: string;
  error?: string;
}

function record(
  ctx: Context,
  mailed: Mailed,
  customer: CustomerRow,
  { status, subject, text, to, cc, bcc, error }: Mailing,
): void {
  const email = { subject, to, cc, bcc, body_preview: withLinksAsMarks(text).slice(0, BODY_PREVIEW_LENGTH) };
  const document = { type: mailed.resourceType, number: mailed.number, svc_id: mailed.id };
  ctx.record({
    activity: {
      type: 'email.sent',
      resourceType: mailed.resourceType,
      resourceId: mailed.id,
      object: {
        status,
        email: JSON.stringify(email),
        document: JSON.stringify(document),
        ...(error === undefined ? {} : { error }),
      },
      externalCustomerId: customer.external_id,
    },
  });
}

interface Sender {
  email_settings: string[];
}

async function readSender(ctx: Context, mailed: Mailed): Promise<Sender> {
  const [entity] = await ctx.db<Sender[]>`
    select email_settings from billing_entities
    where organization_id = ${ctx.organizationId} and id = ${mailed.billing_entity_id}`;
  return entity!;
}
