import type { Context } from '../../../../platform/context.ts';
import type { BillingEntityId, CustomerId } from '../../../../platform/ids.ts';
import { type CustomerRow, readCustomer } from '../../../customers/customers/queries.ts';
import { fill } from '../../../messaging/documents/number-and-date-formats.ts';
import { button, heading, mailPage, paragraph, remark } from '../../../messaging/mails/mail-page.ts';
import { portalMark, withoutMarks } from '../../../messaging/mails/pay-link.ts';
import { postMail } from '../../../messaging/mails/post-mail.ts';
import { languageOf } from '../texts/by-locale.ts';
import { done, type PortalOutcome } from './outcome.ts';

/** How soon a customer may have another link. */
const PAUSE_MINUTES = 5;

interface Issuer {
  name: string;
  email: string | null;
  logo_url: string | null;
  document_locale: string;
}

async function readIssuer({ db, organizationId }: Context, id: BillingEntityId): Promise<Issuer> {
  const [row] = await db<Issuer[]>`
    select coalesce(nullif(legal_name, ''), name) as name, nullif(email, '') as email, logo_url, document_locale
    from billing_entities where organization_id = ${organizationId} and id = ${id}`;
  return { ...row!, name: withoutMarks(row!.name) };
}

const addressesOf = ({ email }: Pick<CustomerRow, 'email'>): string[] =>
  (email ?? '').split(',').filter((address) => address !== '');

/**
 * Mails a new link to the stored addresses of a customer whose link has expired, once in five minutes. The answer is
 * the same whether a mail goes out or not.
 *
 * Rule: portal.md#links-that-have-expired.
 */
export async function sendLink(ctx: Context, input: { customer_id: CustomerId }): Promise<PortalOutcome> {
  const customer = await readCustomer(ctx, input.customer_id);
  const to = addressesOf(customer);
  if (to.length === 0 || !(await mayHaveLink(ctx, customer.id))) return done();
  const issuer = await readIssuer(ctx, customer.billing_entity_id);
  const { locale, words } = languageOf({
    document_locale: customer.document_locale,
    entity_locale: issuer.document_locale,
  });
  const { mail } = words;
  const subject = fill(mail.link.subject, { issuer: issuer.name });
  const worksFor = fill(mail.link.worksFor, { hours: String(ctx.config.PORTAL_TOKEN_TTL_HOURS) });
  const mark = portalMark(customer.id);
  await postMail(ctx, {
    to,
    senderName: issuer.name,
    replyTo: issuer.email,
    subject,
    text: [mail.link.text, mark, worksFor, mail.link.ignore, issuer.name].join('\n\n'),
    html: mailPage({
      locale,
      title: subject,
      logo: issuer.logo_url,
      sender: issuer.name,
      blocks: [heading(subject), paragraph(mail.link.text), button(mark, mail.link.button), remark(worksFor)],
      footer: [mail.link.ignore, issuer.name],
    }),
  });
  return done();
}

/** Notes that a link goes out now; false where one did within the last minutes. */
async function mayHaveLink({ db, organizationId, now }: Context, customerId: CustomerId): Promise<boolean> {
  const rows = await db`
    insert into portal_links (organization_id, customer_id, sent_at)
    values (${organizationId}, ${customerId}, ${now()})
    on conflict (organization_id, customer_id) do update set sent_at = excluded.sent_at
      where portal_links.sent_at <= ${now().subtract({ minutes: PAUSE_MINUTES })}
    returning customer_id`;
  return rows.length > 0;
}

/** Tells the former addresses of a customer that its address was changed on its pages. */
export async function mailOfChange(ctx: Context, before: CustomerRow): Promise<void> {
  const issuer = await readIssuer(ctx, before.billing_entity_id);
  const { locale, words } = languageOf({
    document_locale: before.document_locale,
    entity_locale: issuer.document_locale,
  });
  const { changed } = words.mail;
  const subject = fill(changed.subject, { issuer: issuer.name });
  await postMail(ctx, {
    to: addressesOf(before),
    senderName: issuer.name,
    replyTo: issuer.email,
    subject,
    text: [changed.text, changed.ask, issuer.name].join('\n\n'),
    html: mailPage({
      locale,
      title: subject,
      logo: issuer.logo_url,
      sender: issuer.name,
      blocks: [heading(subject), paragraph(changed.text), remark(changed.ask)],
      footer: [issuer.name],
    }),
  });
}
