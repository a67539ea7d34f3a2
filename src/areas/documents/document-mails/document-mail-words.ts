import type { DocumentModel, DocumentTable } from '../../../platform/documents/model.ts';
import type { Html } from '../../../platform/html.ts';
import { fill } from '../../messaging/documents/number-and-date-formats.ts';
import { type MailBlock, type MailContent, oneLine } from '../../messaging/mails/compose-mail.ts';
import { amounts, button, facts, gap, headline, type MailRow, remark } from '../../messaging/mails/mail-page.ts';
import { mailTextsOf } from '../../messaging/mails/texts/by-locale.ts';
import type { PayTexts } from '../../messaging/pay-texts/pay-texts.ts';

/** How many lines of a document a mail lists; the others are counted, and all of them are in the file. */
const LINES_SHOWN = 10;

/** What the mail of a document says besides who writes to whom. Rule: invoice-operations.md#mails. */
export interface DocumentMail extends Pick<MailContent, 'locale' | 'issuer' | 'customer'> {
  template: 'invoice' | 'credit_note' | 'payment_receipt';
  /** The attached page, in the language of its reader. */
  model: DocumentModel;
  texts: PayTexts;
  /** What an invoice still owes, and until when. */
  due: { amount: string; date: string } | null;
  /** Where that can be paid on a page: the mark of its link, and for how many days that works. */
  pay: { mark: string; linkDays: number } | null;
}

export function contentOf(mail: DocumentMail): MailContent {
  const { template, locale, issuer, customer, model, texts, due, pay } = mail;
  const isSettled = template === 'invoice' && due === null;
  const total = due?.amount ?? (model.totals.findLast(({ kind }) => kind === 'grand') ?? model.totals.at(-1)!).value;
  return {
    template,
    locale,
    issuer,
    customer,
    builtIn: isSettled ? { subject: mailTextsOf(locale).settled } : {},
    values: { number: model.number, amount: total, due_date: due?.date ?? '' },
    ...(pay === null || due === null
      ? {}
      : { link: { mark: pay.mark, label: fill(texts.payAmount, { amount: due.amount }) } }),
    headline: headlineOf(mail, total),
    blocks: [...payOf(mail), factsOf(model), listOf(mail)],
  };
}

/** What is due or was paid and until or since when; of a document without that, how much it is about. */
function headlineOf({ template, model, texts, due }: DocumentMail, total: string): MailBlock {
  const name = oneLine(`${model.title} ${model.number}`);
  const [text, note] =
    model.headline === null
      ? [total, template === 'invoice' && due === null ? `${texts.nothingDue.title} · ${name}` : name]
      : [oneLine(model.headline.text), `${oneLine(model.headline.note)} · ${name}`];
  return { text: `${text}\n${note}`, html: [headline(text, note)] };
}

function payOf({ texts, due, pay }: DocumentMail): MailBlock[] {
  if (pay === null || due === null) return [];
  const days = { days: String(pay.linkDays) };
  return [
    {
      text: `${fill(texts.mail.payHere, days)}\n${pay.mark}`,
      html: [
        button(pay.mark, fill(texts.payAmount, { amount: due.amount })),
        remark(fill(texts.mail.worksFor, days)),
        gap,
      ],
    },
  ];
}

const factsOf = (model: DocumentModel): MailBlock => ({
  text: model.facts.map(({ label, value }) => oneLine(`${label}: ${value}`)).join('\n'),
  html: [facts(model.facts.map(({ label, value }) => [label, value] as const))],
});

/** The lines of the document in its order, and its sums, of which the total without anything below it is the last. */
function listOf({ model, texts }: DocumentMail): MailBlock {
  const all = model.tables.flatMap(linesOf);
  const left = all.length - LINES_SHOWN;
  const sums = model.totals.map(({ label, value }): MailRow => ({ title: label, hint: '', amount: value }));
  const rows = all.slice(0, LINES_SHOWN);
  const more = left > 0 ? fill(texts.more, { count: String(left) }) : '';
  const list: Html = amounts(rows, { more, sums: sums.slice(0, -1), total: sums.at(-1)! });
  const lines = [
    ...rows.map(({ title, hint, amount }) => `- ${[title, hint, amount].map(oneLine).filter(Boolean).join(' · ')}`),
    ...(more === '' ? [] : [more]),
    ...sums.map(({ title, amount }) => `${oneLine(title)}: ${oneLine(amount)}`),
  ];
  return { text: lines.join('\n'), html: [list] };
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
