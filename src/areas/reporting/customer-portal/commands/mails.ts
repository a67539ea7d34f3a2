import type { Context } from '../../../../platform/context.ts';
import type { CustomerId } from '../../../../platform/ids.ts';
import { mailAddressesOf, mailedName } from '../../../customers/customers/mail-addressee.ts';
import { type CustomerRow, readCustomer } from '../../../customers/customers/queries.ts';
import { fill } from '../../../messaging/documents/number-and-date-formats.ts';
import { languageOf } from '../../../messaging/documents/texts/by-locale.ts';
import { composeMail, type MailContent } from '../../../messaging/mails/compose-mail.ts';
import { isMailOn, readMailIssuer } from '../../../messaging/mails/mail-issuer.ts';
import { button, remark } from '../../../messaging/mails/mail-page.ts';
import { portalMark } from '../../../messaging/mails/pay-link.ts';
import { addressed, postMail } from '../../../messaging/mails/post-mail.ts';
import { mailTextsOf } from '../../../messaging/mails/texts/by-locale.ts';
import { done, type PortalOutcome } from './outcome.ts';

/** How soon a customer may have another link. */
const PAUSE_MINUTES = 5;

/**
 * Mails a new link to the stored addresses of a customer whose link has expired, once in five minutes. The answer is
 * the same whether a mail goes out or not.
 *
 * Rule: portal.md#links-that-have-expired.
 */
export async function sendLink(ctx: Context, input: { customer_id: CustomerId }): Promise<PortalOutcome> {
  const customer = await readCustomer(ctx, input.customer_id);
  const to = mailAddressesOf(customer);
  if (to.length === 0 || !(await isMailOn(ctx, customer.billing_entity_id, 'portal_link'))) return done();
  if (!(await mayHaveLink(ctx, customer.id))) return done();
  await post(ctx, customer, await readPortalMail(ctx, customer, 'portal_link'));
  return done();
}

async function post(ctx: Context, customer: CustomerRow, content: MailContent): Promise<void> {
  await postMail(ctx, {
    ...addressed(content),
    ...(await composeMail(ctx, content)),
    to: mailAddressesOf(customer),
    resource: { type: 'Customer', id: customer.id },
  });
}

/** What a mail about a customer's pages says. */
export async function readPortalMail(
  ctx: Context,
  customer: CustomerRow,
  template: 'portal_link' | 'details_changed',
): Promise<MailContent> {
  const issuer = await readMailIssuer(ctx, customer.billing_entity_id);
  const { locale } = languageOf(customer.document_locale, issuer.document_locale);
  const about = { template, locale, issuer, customer: { id: customer.id, name: mailedName(customer) } };
  return template === 'portal_link' ? linkContent(about, ctx.config.PORTAL_TOKEN_TTL_HOURS) : changeContent(about);
}

type About = Pick<MailContent, 'locale' | 'issuer'> & { customer: { id: CustomerId; name: string } };

export function linkContent(about: About, hours: number): MailContent {
  const { openPages, keepLink } = mailTextsOf(about.locale);
  const mark = portalMark(about.customer.id);
  const worksFor = fill(keepLink, { hours: String(hours) });
  return {
    ...about,
    template: 'portal_link',
    values: {},
    link: { mark, label: openPages },
    headline: null,
    blocks: [{ text: `${openPages}:\n${mark}\n${worksFor}`, html: [button(mark, openPages), remark(worksFor)] }],
    isOwnLink: true,
  };
}

export const changeContent = (about: About): MailContent => ({
  ...about,
  template: 'details_changed',
  values: {},
  headline: null,
  blocks: [],
  // Whoever changed the address may read the former one: no link goes there.
  isOwnLink: true,
});

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
  if (!(await isMailOn(ctx, before.billing_entity_id, 'details_changed'))) return;
  await post(ctx, before, await readPortalMail(ctx, before, 'details_changed'));
}
