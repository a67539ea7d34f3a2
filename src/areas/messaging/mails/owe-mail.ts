import type { Context } from '../../../platform/context.ts';
import type { BillingEntityId } from '../../../platform/ids.ts';
import type { StepPayload } from '../../../steps.ts';

/** What a billing entity may have mailed by itself. Rule: organizations.md. */
export type MailSetting = 'invoice.finalized' | 'credit_note.created' | 'payment_receipt.created';

/** Mails a document that became final, where its billing entity says so. */
export const MAIL_DOCUMENT_STEP = 'mail-document';

export type MailDocument = StepPayload<typeof MAIL_DOCUMENT_STEP>;

/** Owes the mail of a document that became final. */
export const oweMail = (ctx: Context, payload: MailDocument): void => ctx.after({ step: MAIL_DOCUMENT_STEP, payload });

/** Owes a mail about a cause that is no document; whether it is sent is decided when it is due to be written. */
export const oweNotice = (ctx: Pick<Context, 'after'>, payload: StepPayload<'mail-notice'>): void =>
  ctx.after({ step: 'mail-notice', payload });

/** Owes the electronic document of an invoice or note that became final, where its parties want one made. */
export const oweEDocument = (ctx: Context, payload: StepPayload<'make-e-document'>): void =>
  ctx.after({ step: 'make-e-document', payload });

/** Whether the billing entity has documents of this kind mailed. */
export async function isMailed(ctx: Context, billingEntityId: BillingEntityId, setting: MailSetting): Promise<boolean> {
  const [row] = await ctx.db<{ mailed: boolean }[]>`
    select ${setting} = any (email_settings) as mailed from billing_entities
    where organization_id = ${ctx.organizationId} and id = ${billingEntityId}`;
  return row?.mailed === true;
}
