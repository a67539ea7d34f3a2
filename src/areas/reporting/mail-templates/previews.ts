import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { type CustomerId, firstIdAt, type InvoiceId, isUuid, type PaymentRequestId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { INVALID } from '../../../platform/schema/fields.ts';
import { listCustomersByIds, readCustomer } from '../../customers/customers/queries.ts';
import { readDocumentContent } from '../../documents/document-mails/commands.ts';
import { mailedDocuments } from '../../documents/document-mails/mailed-documents.ts';
import { getVisibleInvoice } from '../../invoices/invoices/queries.ts';
import type { DocumentLocale } from '../../messaging/documents/texts/by-locale.ts';
import { type ComposedMail, composeMail, type MailContent } from '../../messaging/mails/compose-mail.ts';
import { readMailIssuer } from '../../messaging/mails/mail-issuer.ts';
import { withLinksAsMarks } from '../../messaging/mails/pay-link.ts';
import { addressed, postMail } from '../../messaging/mails/post-mail.ts';
import type { TemplateName } from '../../messaging/mails/templates.ts';
import { readInvoiceChargeContent, readRequestContent } from '../../payments/collect-payments/request-mail.ts';
import { getRequest } from '../../payments/payment-requests/queries.ts';
import { readPortalMail } from '../customer-portal/commands/mails.ts';
import { findNotice } from '../mail-notices/mail-notice.ts';
import { entityOf, findOverride, refuseUnknownPlaceholders, templateNamed, wordsFrom } from './commands.ts';
import { exampleContent } from './example-content.ts';
import type { MailPreviewEnvelope, MailTemplatePreview, MailTemplateTest } from './schema.ts';

/** A mail of a test is about a test, whatever it shows. */
const TEST = 'MailTest';
const TESTS_AN_HOUR = 10;

/**
 * A mail as it would be sent, about a record or an example; links, which would let in, read as `#`.
 *
 * @throws Refusal 404 mail_template, billing_entity, or the record's; 422 `<field>: unknown_placeholder`; locale:
 *   value_is_invalid, of another language than that of the record's mail; svc_resource_id: value_is_invalid, of a
 *   record about which there is no such mail
 * Rule: mails.md#preview-and-test.
 */
export async function previewMail(
  ctx: Context,
  { name, body }: { name: string; body: MailTemplatePreview },
): Promise<MailPreviewEnvelope> {
  const { mail } = await compose(ctx, name, body);
  return { preview: { subject: mail.subject, html: mail.html, text: mail.text } };
}

/**
 * Mails a preview to one address; its subject begins with `[Test]` and its links lead nowhere.
 *
 * @throws Refusal as the preview; 422 to: invalid_count, of the eleventh of an hour; 403 feature_unavailable, while
 *   there is no mail server
 * Rule: mails.md#preview-and-test.
 */
export async function testMail(ctx: Context, { name, body }: { name: string; body: MailTemplateTest }): Promise<null> {
  const { content, mail } = await compose(ctx, name, body);
  if (!ctx.sandbox && ctx.config.SMTP_URL === undefined) throw refuse.forbidden('feature_unavailable');
  await refuseTooMany(ctx);
  await postMail(ctx, {
    ...addressed(content),
    customerId: null,
    resource: { type: TEST, id: content.issuer.billing_entity_id },
    to: [body.to],
    subject: `[Test] ${mail.subject}`,
    text: mail.text,
    html: mail.html,
  });
  return null;
}

async function compose(
  ctx: Context,
  name: string,
  body: MailTemplatePreview,
): Promise<{ content: MailContent; mail: ComposedMail }> {
  const template = templateNamed(name);
  refuseUnknownPlaceholders(template, body);
  const locale = body.locale as DocumentLocale;
  const content = await contentFor(ctx, template, locale, body);
  const stored = await findOverride(ctx, { id: content.issuer.billing_entity_id }, template, locale);
  const words = wordsFrom(stored ?? { subject: null, intro: null, closing: null }, body);
  const mail = await composeMail(ctx, content, words);
  return { content, mail: { ...mail, text: withLinksAsMarks(mail.text), html: withLinksAsMarks(mail.html) } };
}

async function contentFor(
  ctx: Context,
  template: TemplateName,
  locale: DocumentLocale,
  { billing_entity_code: code, svc_resource_id: id }: MailTemplatePreview,
): Promise<MailContent> {
  const entity = await entityOf(ctx, code);
  if (id == null)
    return exampleContent(ctx, template, { locale, issuer: await readMailIssuer(ctx, entity.id), entity });
  const content = await contentOfRecord(ctx, template, id);
  if (!content || (code != null && content.issuer.billing_entity_id !== entity.id))
    throw refuse.invalid({ svc_resource_id: [INVALID] });
  if (content.locale !== locale) throw refuse.invalid({ locale: [INVALID] });
  return { ...content, template };
}

/** What the mail about a record says; undefined where there is none, as once nothing is due. */
async function contentOfRecord(ctx: Context, template: TemplateName, id: string): Promise<MailContent | undefined> {
  if (!isUuid(id)) return undefined;
  switch (template) {
    case 'invoice':
    case 'credit_note':
    case 'payment_receipt': {
      const mailed = await mailedDocuments[template](ctx, id);
      return readDocumentContent(ctx, mailed, await readCustomer(ctx, mailed.customer_id));
    }
    case 'payment_request':
    case 'invoice_overdue':
      return readRequestContent(ctx, await getRequest(ctx, id as PaymentRequestId));
    case 'payment_failed': {
      const invoice = await getVisibleInvoice(ctx, id as InvoiceId);
      return readInvoiceChargeContent(ctx, invoice, await readCustomer(ctx, invoice.customer_id));
    }
    // What its payment asks for is known while it waits only.
    case 'payment_action':
      return undefined;
    case 'wallet_low':
    case 'top_up_failed':
    case 'trial_ending':
    case 'subscription_ending':
    case 'usage_alert':
    case 'endpoint_disabled':
    case 'key_created':
      return (await findNotice(ctx, template, id))?.content({ isPreview: true });
    case 'portal_link':
    case 'details_changed': {
      const [customer] = await listCustomersByIds(ctx, [id as CustomerId]);
      return customer && readPortalMail(ctx, customer, template);
    }
  }
}

/** The organization's row is held, so that two tests at the same time count each other. */
async function refuseTooMany({ db, organizationId }: Context): Promise<void> {
  await db`select from organizations where id = ${organizationId} for no key update`;
  const since = firstIdAt(realNow().subtract({ hours: 1 }));
  const [row] = await db<{ count: number }[]>`
    select count(*)::integer as count from mails
    where organization_id = ${organizationId} and id >= ${since} and resource_type = ${TEST}`;
  if (row!.count >= TESTS_AN_HOUR) throw refuse.invalid({ to: ['invalid_count'] });
}
