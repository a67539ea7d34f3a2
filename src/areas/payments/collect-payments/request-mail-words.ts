import type { Temporal } from 'temporal-polyfill';
import { dueOf } from '../../invoices/invoices/amount-due.ts';
import type { InvoiceRow } from '../../invoices/invoices/queries.ts';
import { type Format, fill } from '../../messaging/documents/number-and-date-formats.ts';
import type { Language } from '../../messaging/documents/texts/by-locale.ts';
import {
  amounts,
  button,
  facts,
  heading,
  link,
  type MailRow,
  mailPage,
  paragraph,
  remark,
} from '../../messaging/mails/mail-page.ts';
import { withoutMarks } from '../../messaging/mails/pay-link.ts';
import type { PayTexts } from '../../messaging/pay-texts/pay-texts.ts';
import type { Transfer } from '../payments/transfer-instructions.ts';

/** Everything that the mail of a request says, from which both of its parts are written. */
export interface RequestMail {
  issuer: { name: string; email: string | null; logo_url: string | null };
  /** Those that are listed, oldest first, and how many more owe something. */
  invoices: readonly InvoiceRow[];
  more: number;
  dueCents: number;
  /** Days on which bank debits of its invoices are expected, by the id of the invoice. */
  expectedOn: ReadonlyMap<string, Temporal.PlainDate>;
  /** Its invoices are overdue; otherwise the payment of one waits for the customer. */
  isReminder: boolean;
  /** The charge of the whole amount was refused. */
  wasRefused: boolean;
  way: 'page' | 'confirm' | 'ask' | Transfer;
  /** Stands for the pay link. */
  mark: string;
  linkDays: number;
  language: Language;
  texts: PayTexts;
  format: Format;
}

export const subjectOf = ({ issuer, dueCents, way, texts, format }: RequestMail): string =>
  way === 'confirm'
    ? `${issuer.name}: ${texts.confirm.title}`
    : fill(texts.mail.subject, { issuer: issuer.name, amount: format.amount(dueCents) });

/** The part that is text alone. */
export function textOf(mail: RequestMail): string {
  const { issuer, texts, wasRefused, isReminder } = mail;
  const { rows, more, total } = listOf(mail);
  const blocks = [
    wasRefused ? texts.mail.refused : '',
    [
      ...(isReminder ? [fill(texts.mail.overdue, { issuer: issuer.name })] : []),
      ...rows.map(({ title, hint, amount }) => `- ${title} · ${hint} · ${amount}`),
      ...(more === '' ? [] : [more]),
      `${total.title}: ${total.amount}`,
    ].join('\n'),
    wayAsText(mail),
    [issuer.name, ...(issuer.email === null ? [] : [issuer.email])].join('\n'),
  ];
  return blocks.filter((block) => block !== '').join('\n\n');
}

/** The same words as a page. */
export function htmlOf(mail: RequestMail): string {
  const { issuer, texts, wasRefused, isReminder, dueCents, format, language } = mail;
  const { rows, more, total } = listOf(mail);
  return mailPage({
    locale: language.locale,
    title: subjectOf(mail),
    logo: issuer.logo_url,
    sender: issuer.name,
    blocks: [
      heading(fill(language.texts.amountDue, { amount: format.amount(dueCents) })),
      wasRefused && paragraph(texts.mail.refused),
      isReminder && paragraph(fill(texts.mail.overdue, { issuer: issuer.name })),
      amounts(rows, { more, total }),
      ...wayAsHtml(mail),
    ],
    footer: [issuer.name, ...(issuer.email === null ? [] : [issuer.email])],
  });
}

function listOf({ invoices, more, dueCents, expectedOn, language, texts, format }: RequestMail) {
  const rows = invoices.map((invoice): MailRow => {
    const expected = expectedOn.get(invoice.id);
    const hints = [
      format.date(invoice.issuing_date),
      fill(language.texts.payableUntil, { date: format.date(invoice.payment_due_date) }),
      ...(expected === undefined ? [] : [fill(texts.expectedOn, { date: format.date(expected) })]),
    ];
    return { title: withoutMarks(invoice.number), hint: hints.join(' · '), amount: format.amount(dueOf(invoice)) };
  });
  const total = { title: language.texts.total, hint: '', amount: format.amount(dueCents) };
  return { rows, more: more > 0 ? fill(texts.more, { count: String(more) }) : '', total };
}

/** How the amount can be paid, and where the invoices are. */
function wayAsText(mail: RequestMail): string {
  const { way, texts, mark, linkDays } = mail;
  const days = { days: String(linkDays) };
  if (way === 'page') return `${fill(texts.mail.payHere, days)}\n${mark}\n${texts.mail.onPage}`;
  const { button: confirmation, text: consent } = texts.confirm;
  if (way === 'confirm') return `${consent}\n${confirmation}:\n${mark}\n${fill(texts.mail.worksFor, days)}`;
  const page = `${texts.mail.view}:\n${mark}\n${fill(texts.mail.worksFor, days)}`;
  if (way === 'ask') return `${askOf(mail)}\n\n${page}`;
  const account = accountRows(mail, way).map(([name, value]) => `${name}: ${value}`);
  return `${[texts.transfer.text, ...account].join('\n')}\n\n${page}`;
}

function wayAsHtml(mail: RequestMail) {
  const { way, texts, mark, linkDays, dueCents, format } = mail;
  const worksFor = remark(fill(texts.mail.worksFor, { days: String(linkDays) }));
  if (way === 'page')
    return [
      button(mark, fill(texts.payAmount, { amount: format.amount(dueCents) })),
      worksFor,
      remark(texts.mail.onPage),
    ];
  if (way === 'confirm') return [paragraph(texts.confirm.text), button(mark, texts.confirm.button), worksFor];
  const page = [link(mark, texts.mail.view), worksFor];
  if (way === 'ask') return [paragraph(askOf(mail)), ...page];
  const account = accountRows(mail, way).map(([name, value]): [string, string] => [name, shownNumber(name, value)]);
  return [paragraph(texts.transfer.text), facts(account), ...page];
}

/** A number as people read it. */
const shownNumber = (name: string, value: string): string =>
  name === 'IBAN' ? value.replace(/(.{4})(?=.)/g, '$1 ') : value;

const askOf = ({ texts, issuer }: RequestMail): string =>
  fill(texts.ask, { issuer: [issuer.name, issuer.email ?? ''].join(' ').trim() });

function accountRows({ issuer, texts, language }: RequestMail, transfer: Transfer): [string, string][] {
  const rows: (readonly [string, string | null])[] = [
    [texts.transfer.holder, transfer.holder ?? issuer.name],
    ...transfer.numbers,
    [language.texts.reference, transfer.reference],
  ];
  return rows.flatMap(([name, value]): [string, string][] => (value === null ? [] : [[name, withoutMarks(value)]]));
}
