import type { Context } from '../../../platform/context.ts';
import type { Html } from '../../../platform/html.ts';
import type { CustomerId } from '../../../platform/ids.ts';
import { fill } from '../documents/number-and-date-formats.ts';
import type { DocumentLocale } from '../documents/texts/by-locale.ts';
import type { MailIssuer } from './mail-issuer.ts';
import { footerLink, gap, heading, mailPage, paragraph } from './mail-page.ts';
import { portalMark, withoutMarks } from './pay-link.ts';
import { type MailValues, type TemplateName, templateOf } from './templates.ts';
import { mailTextsOf } from './texts/by-locale.ts';
import type { MailWords } from './texts/mail-texts.ts';
import { wrapText } from './wrap-text.ts';

/** A part of a mail as text and as HTML, with the same words and links. */
export interface MailBlock {
  text: string;
  html: readonly (Html | false)[];
}

/** A mark that stands for a link, and its name. */
export interface MailLink {
  mark: string;
  label: string;
}

/** What a mail to a customer says, whatever its template. */
export interface MailContent {
  template: TemplateName;
  locale: DocumentLocale;
  issuer: MailIssuer;
  /** Of a mail to people of the organization there is none: it has no link to pages, and its name is theirs. */
  customer: { id: CustomerId | null; name: string };
  /** Words where others than the template's usual ones are built in. */
  builtIn?: Partial<MailWords>;
  values: MailValues;
  /** Where it is done, and what that is called: what the placeholder `link` stands for. */
  link?: MailLink;
  /** What stands in large letters; null: the subject. */
  headline: MailBlock | null;
  /** What can be done, then what it is about. */
  blocks: readonly MailBlock[];
  /** Whether no link to the customer's pages stands below, as where it is the mail's own purpose. */
  isOwnLink?: boolean;
}

/** A seller's own words in one language; null: the built-in ones. */
export type OwnWords = { [Part in keyof MailWords]: string | null };

export interface ComposedMail {
  subject: string;
  text: string;
  html: string;
}

/** A subject has one line, of a length that every mail server takes. */
const SUBJECT_LETTERS = 400;
/** Placeholders make a text longer than it was written; a mail of more than 100 kB is cut by its readers. */
const TEXT_LETTERS = 4000;
/** What lists of mails show of the text. */
const PREVIEW_LETTERS = 200;

/**
 * A mail in both of its parts: the seller's own words where it has some, with placeholders filled in; nothing of others
 * can become a tag, a link or a second header.
 *
 * own  words to be tried; absent: those that are stored
 * Rule: mails.md#texts-of-a-seller.
 */
export async function composeMail(ctx: Context, content: MailContent, own?: OwnWords): Promise<ComposedMail> {
  const words = own ?? (await readOwnWords(ctx, content));
  return compose(content, words, ctx.config.PORTAL_TOKEN_TTL_HOURS);
}

async function readOwnWords(
  { db, organizationId }: Context,
  { issuer, template, locale }: MailContent,
): Promise<OwnWords | undefined> {
  const [row] = await db<OwnWords[]>`
    select subject, intro, closing from mail_overrides
    where organization_id = ${organizationId} and billing_entity_id = ${issuer.billing_entity_id}
      and template = ${template} and locale = ${locale}`;
  return row;
}

function compose(content: MailContent, own: OwnWords | undefined, linkHours: number): ComposedMail {
  const { template, locale, issuer, customer, headline, blocks } = content;
  const texts = mailTextsOf(locale);
  const builtIn = { ...texts.words[template], ...content.builtIn };
  const values = valuesOf(content);
  const say = (part: keyof MailWords): string =>
    cut(fill(withoutMarks(own?.[part] ?? builtIn[part]), values), TEXT_LETTERS);
  const subject = oneLine(fill(withoutMarks(own?.subject ?? builtIn.subject), { ...values, link: '' }));
  const [intro, closing] = [paragraphsOf(say('intro')), paragraphsOf(say('closing'))];
  const worksFor = fill(texts.worksFor, { hours: String(linkHours) });
  const mark = content.isOwnLink === true || customer.id === null ? undefined : portalMark(customer.id);
  const legal = [issuer.name, ...issuer.legal, ...(issuer.email === null ? [] : [issuer.email])];
  const text = [
    ...intro,
    headline?.text ?? '',
    ...blocks.map((block) => block.text),
    ...closing,
    mark === undefined ? '' : `${texts.pages}:\n${mark}\n${worksFor}`,
    legal.map(oneLine).join('\n'),
  ].filter((block) => block !== '');
  return {
    subject,
    text: wrapText(text.join('\n\n')),
    html: mailPage({
      locale,
      title: subject,
      preview: cut(intro[0] ?? headline?.text ?? subject, PREVIEW_LETTERS),
      logo: issuer.logo_url,
      sender: issuer.name,
      accent: issuer.accent_color,
      blocks: [
        ...(headline === null ? [heading(subject)] : headline.html),
        ...intro.map((each) => paragraph(each, content.link)),
        ...blocks.flatMap((block) => block.html),
        closing.length > 0 && blocks.length > 0 && gap,
        ...closing.map((each) => paragraph(each, content.link)),
      ],
      footer: [...(mark === undefined ? [] : [footerLink(mark, texts.pages, worksFor)]), ...legal.map(oneLine)],
    }),
  };
}

function valuesOf({ template, issuer, customer, values, link }: MailContent): Record<string, string> {
  const all: Record<string, string> = {
    customer_name: customer.name,
    seller: issuer.name,
    support_email: issuer.email ?? '',
    ...values,
  };
  // A placeholder of the template without a value prints nothing. A mark of a link is ours; all else is not.
  return Object.fromEntries(
    templateOf(template).placeholders.map((name) => [
      name,
      name === 'link' ? (link?.mark ?? '') : oneLine(all[name] ?? ''),
    ]),
  );
}

/** A text on one line, in which no line break makes a second header, and no mark a link. */
export const oneLine = (text: string): string =>
  withoutMarks(text)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
    .replaceAll(/[ \u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
    // What turns the direction of letters would turn the rest of the line as well.
    .replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, '')
    .trim()
    .slice(0, SUBJECT_LETTERS)
    .toWellFormed();

/** The beginning of a text that is too long. A link is cut whole or not at all. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const start = text.slice(0, most);
  const mark = start.lastIndexOf('\uE000');
  const isWhole = mark < 0 || start.indexOf('\uE001', mark) >= 0;
  return `${(isWhole ? start : start.slice(0, mark)).toWellFormed()}…`;
}

const paragraphsOf = (text: string): string[] =>
  text
    .replaceAll('\r\n', '\n')
    .split(/\n\s*\n/)
    .map((each) => each.trim())
    .filter((each) => each !== '');
