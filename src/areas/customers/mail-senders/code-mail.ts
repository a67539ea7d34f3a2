import type { Context } from '../../../platform/context.ts';
import type { MailIssuer } from '../../messaging/mails/mail-issuer.ts';
import { code, mailPage, paragraph, remark } from '../../messaging/mails/mail-page.ts';
import { codeMark } from '../../messaging/mails/pay-link.ts';
import { postMail } from '../../messaging/mails/post-mail.ts';
import { wrapText } from '../../messaging/mails/wrap-text.ts';

const SUBJECT = 'Your code for this sender address';
const IGNORE =
  'If you did not ask for it, you need not do anything: without the code nothing is sent from this address.';

/**
 * Mails the code that proves that an address is the seller's: to a person of the seller, in English as the console. The
 * stored mail holds a mark in its place.
 */
export async function mailCode(
  ctx: Context,
  issuer: MailIssuer,
  { to, codeId, minutes }: { to: string; codeId: string; minutes: number },
): Promise<void> {
  const why = `${issuer.name} wants its mails to come from ${to}. This code confirms it:`;
  const lasts = `The code works for ${minutes} minutes.`;
  const mark = codeMark(codeId);
  await postMail(ctx, {
    template: null,
    locale: 'en',
    issuer,
    customerId: null,
    resource: { type: 'BillingEntity', id: issuer.billing_entity_id },
    to: [to],
    subject: SUBJECT,
    text: wrapText([why, mark, lasts, IGNORE, issuer.name].join('\n\n')),
    html: mailPage({
      locale: 'en',
      title: SUBJECT,
      preview: why,
      logo: issuer.logo_url,
      sender: issuer.name,
      accent: issuer.accent_color,
      blocks: [paragraph(why), code(mark), remark(lasts), remark(IGNORE)],
      footer: [issuer.name],
    }),
  });
}
