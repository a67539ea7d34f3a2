import type { Context } from '../../platform/context.ts';
import { refuse } from '../../platform/refusal.ts';
import { getCreditNote } from '../credit-notes/queries.ts';
import { readCustomer } from '../customers/queries.ts';
import { getVisibleInvoice } from '../invoices/queries.ts';
import { getReceipt } from '../payment-receipts/queries.ts';
import { keepMail } from '../sandbox/mails.ts';
import type { ResendEmail } from './schema.ts';

interface Asked {
  svc_id: string;
  body?: ResendEmail;
}

/** A document that is mailed, and the setting of its billing entity that allows it. */
interface Mailed {
  id: string;
  number: string;
  customer_id: string;
  billing_entity_id: string;
  setting: 'invoice.finalized' | 'credit_note.created' | 'payment_receipt.created';
  resourceType: 'Invoice' | 'CreditNote' | 'PaymentReceipt';
  title: string;
}

const BODY_PREVIEW_LENGTH = 500;

/** @throws Refusal 404 invoice; as `resend`. Rule: subscriptions-and-invoices F.10. */
export async function resendInvoice(ctx: Context, { svc_id, body }: Asked) {
  const invoice = await getVisibleInvoice(ctx.db, ctx.organizationId, svc_id);
  return resend(ctx, { ...invoice, setting: 'invoice.finalized', resourceType: 'Invoice', title: 'invoice' }, body);
}

/** @throws Refusal 404 credit_note; as `resend`. Rule: credits-and-payments C.2. */
export async function resendCreditNote(ctx: Context, { svc_id, body }: Asked) {
  const note = await getCreditNote(ctx.db, ctx.organizationId, svc_id);
  const { billing_entity_id } = await getVisibleInvoice(ctx.db, ctx.organizationId, note.invoice_id);
  const mailed = { ...note, billing_entity_id, setting: 'credit_note.created', resourceType: 'CreditNote' } as const;
  return resend(ctx, { ...mailed, title: 'credit note' }, body);
}

/** @throws Refusal 404 payment_receipt; as `resend`. Rule: credits-and-payments E.9. */
export async function resendReceipt(ctx: Context, { svc_id, body }: Asked) {
  const receipt = await getReceipt(ctx.db, ctx.organizationId, svc_id);
  const mailed = { ...receipt, setting: 'payment_receipt.created', resourceType: 'PaymentReceipt' } as const;
  return resend(ctx, { ...mailed, title: 'payment receipt' }, body);
}

/**
 * Mails a document again, to its customer unless other addressees are given.
 *
 * @throws Refusal 405 email_settings_disabled, when the billing entity does not send such mails; 422 to, without any
 *   addressee; 403 feature_unavailable outside of sandboxes, whose mails alone have a way to go
 */
async function resend(ctx: Context, mailed: Mailed, asked: ResendEmail | undefined): Promise<null> {
  const { db, organizationId } = ctx;
  const [entity] = await db<{ email_settings: string[]; name: string }[]>`
    select email_settings, name from billing_entities
    where organization_id = ${organizationId} and id = ${mailed.billing_entity_id}`;
  if (!entity!.email_settings.includes(mailed.setting)) throw refuse.notAllowed('email_settings_disabled');
  if (!ctx.sandbox) throw refuse.forbidden('feature_unavailable');
  const customer = await readCustomer(db, organizationId, mailed.customer_id);
  const to = asked?.to?.length ? asked.to : (customer.email ?? '').split(',').filter((address) => address !== '');
  if (to.length === 0) throw refuse.invalid({ to: ['value_is_mandatory'] });
  const [cc, bcc] = [asked?.cc ?? [], asked?.bcc ?? []];
  const subject = `Your ${mailed.title} ${mailed.number} from ${entity!.name}`;
  const text = `Please find here your ${mailed.title} ${mailed.number}.`;
  await keepMail(ctx, { to: [...to, ...cc].join(','), bcc, subject, text });
  const email = { subject, to, cc, bcc, body_preview: text.slice(0, BODY_PREVIEW_LENGTH) };
  const document = { type: mailed.resourceType, number: mailed.number, svc_id: mailed.id };
  ctx.record({
    activity: {
      type: 'email.sent',
      resourceType: mailed.resourceType,
      resourceId: mailed.id,
      object: { status: 'resent', email: JSON.stringify(email), document: JSON.stringify(document) },
      externalCustomerId: customer.external_id,
    },
  });
  return null;
}
