import { Temporal } from 'temporal-polyfill';
import { dueOf } from '../../invoices/invoices/amount-due.ts';
import type { InvoiceRow } from '../../invoices/invoices/queries.ts';
import { type Format, fill } from '../../messaging/documents/number-and-date-formats.ts';
import type { Language } from '../../messaging/documents/texts/by-locale.ts';
import { type MailBlock, type MailContent, oneLine } from '../../messaging/mails/compose-mail.ts';
import {
  amounts,
  button,
  facts,
  gap,
  headline,
  link,
  type MailRow,
  paragraph,
  remark,
} from '../../messaging/mails/mail-page.ts';
import { mailTextsOf } from '../../messaging/mails/texts/by-locale.ts';
import type { PayTexts } from '../../messaging/pay-texts/pay-texts.ts';
import type { Transfer } from '../payments/transfer-instructions.ts';

/** Everything that the mail of a request says, from which both of its parts are written. */
export interface RequestMail extends Pick<MailContent, 'issuer' | 'customer'> {
  template: 'payment_request' | 'invoice_overdue' | 'payment_action' | 'payment_failed';
  /** Of dunning: which attempt this is, from 1, and how many there are. */
  attempt: { number: number; of: number } | undefined;
  /** Those that are listed, oldest first, and how many more owe something. */
  invoices: readonly MailedInvoice[];
  more: number;
  dueCents: number;
  today: Temporal.PlainDate;
  /** Days on which bank debits of its invoices are expected, by the id of the invoice. */
  expectedOn: ReadonlyMap<string, Temporal.PlainDate>;
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

type MailedInvoice = Parameters<typeof dueOf>[0] &
  Pick<InvoiceRow, 'id' | 'number' | 'issuing_date' | 'payment_due_date'>;

export function contentOf(mail: RequestMail): MailContent {
  const { template, issuer, customer, attempt, invoices, dueCents, today, language, texts, format, wasRefused } = mail;
  const first = invoices.map((invoice) => invoice.payment_due_date).sort(Temporal.PlainDate.compare)[0]!;
  const text = fill(language.texts.amountDue, { amount: format.amount(dueCents) });
  const late = daysLate(first, today);
  const note =
    late > 0
      ? fill(mailTextsOf(language.locale).overdueBy, { days: format.days(late) })
      : fill(language.texts.payableUntil, { date: format.date(first) });
  return {
    template,
    locale: language.locale,
    issuer,
    customer,
    builtIn: toneOf(mail),
    values: {
      number: invoices.map(({ number }) => number).join(', '),
      amount: format.amount(dueCents),
      due_date: format.date(first),
      days_overdue: String(late),
      attempt: attempt === undefined ? '' : String(attempt.number),
      attempts: attempt === undefined ? '' : String(attempt.of),
    },
    link: { mark: mail.mark, label: labelOf(mail) },
    headline: { text: `${text}\n${note}`, html: [headline(text, note)] },
    blocks: [
      ...(wasRefused ? [{ text: texts.mail.refused, html: [paragraph(texts.mail.refused)] }] : []),
      wayOf(mail),
      listOf(mail),
    ],
  };
}

/** The first reminder is friendly, the last one final, those between firm. Rule: mails.md#templates. */
function toneOf({ attempt, language }: RequestMail): MailContent['builtIn'] {
  if (attempt === undefined || (attempt.number === 1 && attempt.of > 1)) return {};
  const { firm, final } = mailTextsOf(language.locale);
  if (attempt.number >= attempt.of) return attempt.of === 1 ? {} : final;
  return firm;
}

const daysLate = (due: Temporal.PlainDate, today: Temporal.PlainDate): number =>
  Math.max(due.until(today, { largestUnit: 'days' }).days, 0);

function listOf({ invoices, more, dueCents, today, expectedOn, language, texts, format }: RequestMail): MailBlock {
  const { overdueBy } = mailTextsOf(language.locale);
  const rows = invoices.map((invoice): MailRow => {
    const expected = expectedOn.get(invoice.id);
    const late = daysLate(invoice.payment_due_date, today);
    const hints = [
      format.date(invoice.issuing_date),
      fill(language.texts.payableUntil, { date: format.date(invoice.payment_due_date) }),
      ...(late === 0 ? [] : [fill(overdueBy, { days: format.days(late) })]),
      ...(expected === undefined ? [] : [fill(texts.expectedOn, { date: format.date(expected) })]),
    ];
    return { title: oneLine(invoice.number), hint: hints.join(' · '), amount: format.amount(dueOf(invoice)) };
  });
  const total = { title: language.texts.total, hint: '', amount: format.amount(dueCents) };
  const others = more > 0 ? fill(texts.more, { count: String(more) }) : '';
  return {
    text: [
      ...rows.map(({ title, hint, amount }) => `- ${title} · ${hint} · ${amount}`),
      ...(others === '' ? [] : [others]),
      `${total.title}: ${total.amount}`,
    ].join('\n'),
    html: [amounts(rows, { more: others, total })],
  };
}

/** How the amount can be paid, and where the invoices are. */
const wayOf = (mail: RequestMail): MailBlock => ({ text: wayAsText(mail), html: [...wayAsHtml(mail), gap] });

function labelOf({ way, texts, dueCents, format }: RequestMail): string {
  if (way === 'page') return fill(texts.payAmount, { amount: format.amount(dueCents) });
  return way === 'confirm' ? texts.confirm.button : texts.mail.view;
}

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
  const { way, texts, mark, linkDays } = mail;
  const worksFor = remark(fill(texts.mail.worksFor, { days: String(linkDays) }));
  if (way === 'page') return [button(mark, labelOf(mail)), worksFor, remark(texts.mail.onPage)];
  if (way === 'confirm') return [paragraph(texts.confirm.text), button(mark, labelOf(mail)), worksFor];
  const page = [link(mark, labelOf(mail)), worksFor];
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
  return rows.flatMap(([name, value]): [string, string][] => (value === null ? [] : [[name, oneLine(value)]]));
}
