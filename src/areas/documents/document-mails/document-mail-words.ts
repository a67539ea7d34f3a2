import type { DocumentModel, DocumentTable } from '../../../platform/documents/model.ts';
import { fill } from '../../messaging/documents/number-and-date-formats.ts';
import {
  amounts,
  button,
  facts,
  heading,
  type MailRow,
  mailPage,
  paragraph,
  remark,
} from '../../messaging/mails/mail-page.ts';
import { withoutMarks } from '../../messaging/mails/pay-link.ts';
import type { PayTexts } from '../../messaging/pay-texts/pay-texts.ts';

/** How many lines of a document a mail lists; the others are counted, and all of them are in the file. */
const LINES_SHOWN = 10;

/** What the mail of a document says, from which both of its parts are written. Rule: invoice-operations.md#mails. */
export interface DocumentMail {
  /** The attached page, in the language of its reader. */
  model: DocumentModel;
  issuer: { name: string; email: string | null };
  texts: PayTexts;
  /** Where something is left to pay: how much, the mark of its link, and for how many days that works. */
  pay: { amount: string; mark: string; linkDays: number } | null;
}

const oneLine = (text: string): string => withoutMarks(text).replaceAll(/\s+/g, ' ').trim();

export const subjectOf = ({ model, issuer }: DocumentMail): string =>
  oneLine(`${issuer.name}: ${model.title} ${model.number}`);

/** The part that is text alone. */
export function textOf(mail: DocumentMail): string {
  const { model, texts, pay } = mail;
  const { rows, more, sums, total } = listOf(mail);
  const blocks = [
    headlineOf(model).join('\n'),
    pay === null ? '' : `${fill(texts.mail.payHere, { days: String(pay.linkDays) })}\n${pay.mark}`,
    model.facts.map(({ label, value }) => oneLine(`${label}: ${value}`)).join('\n'),
    [
      ...rows.map(({ title, hint, amount }) => `- ${[title, hint, amount].map(oneLine).filter(Boolean).join(' · ')}`),
      ...(more === '' ? [] : [more]),
      ...[...sums, total].map(({ title, amount }) => `${oneLine(title)}: ${oneLine(amount)}`),
    ].join('\n'),
    footerOf(mail).map(oneLine).join('\n'),
  ];
  return blocks.filter((block) => block !== '').join('\n\n');
}

/** The same words as a page. */
export function htmlOf(mail: DocumentMail): string {
  const { model, issuer, texts, pay } = mail;
  const { rows, more, sums, total } = listOf(mail);
  const [first, ...others] = headlineOf(model);
  return mailPage({
    locale: model.language,
    title: subjectOf(mail),
    logo: model.logo,
    sender: issuer.name,
    blocks: [
      heading(first!),
      ...others.map(paragraph),
      pay !== null && button(pay.mark, fill(texts.payAmount, { amount: pay.amount })),
      pay !== null && remark(fill(texts.mail.worksFor, { days: String(pay.linkDays) })),
      facts(model.facts.map(({ label, value }) => [label, value] as const)),
      amounts(rows, { more, sums, total }),
    ],
    footer: footerOf(mail),
  });
}

/** What is due or was paid and until or since when; of a document without that, what it is. */
function headlineOf({ title, number, headline }: DocumentModel): string[] {
  const name = oneLine(`${title} ${number}`);
  return headline === null ? [name] : [oneLine(headline.text), `${name} · ${oneLine(headline.note)}`];
}

const footerOf = ({ issuer }: DocumentMail): string[] => [
  issuer.name,
  ...(issuer.email === null ? [] : [issuer.email]),
];

/** The lines of the document in its order, and its sums, of which the total without anything below it is the last. */
function listOf({ model, texts }: DocumentMail) {
  const all = model.tables.flatMap(linesOf);
  const left = all.length - LINES_SHOWN;
  const sums = model.totals.map(({ label, value }): MailRow => ({ title: label, hint: '', amount: value }));
  return {
    rows: all.slice(0, LINES_SHOWN),
    more: left > 0 ? fill(texts.more, { count: String(left) }) : '',
    sums: sums.slice(0, -1),
    total: sums.at(-1)!,
  };
}

/** The lines of a table; one below a heading has the name of both, as it stands alone here. */
function linesOf({ rows }: DocumentTable): MailRow[] {
  let named = '';
  return rows.flatMap(({ kind, note, cells }): MailRow[] => {
    if (kind === 'heading') named = cells[0]!;
    if (kind === 'line') named = '';
    if (kind === 'heading' || kind === 'detail') return [];
    const title = kind === 'part' && named !== '' ? `${named} · ${cells[0]}` : cells[0]!;
    return [{ title, hint: note ?? '', amount: cells.at(-1)! }];
  });
}
