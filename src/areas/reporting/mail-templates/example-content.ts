import type { Temporal } from 'temporal-polyfill';
import type { Currency } from '../../../engine/money/currency.ts';
import type { Context } from '../../../platform/context.ts';
import type { DocumentModel } from '../../../platform/documents/model.ts';
import type { CustomerId, InvoiceId } from '../../../platform/ids.ts';
import type { BillingEntityRow } from '../../customers/billing-entities/queries.ts';
import { contentOf as contentOfDocument } from '../../documents/document-mails/document-mail-words.ts';
import { type Format, fill, formatOf } from '../../messaging/documents/number-and-date-formats.ts';
import { type DocumentLocale, type Language, languageOf } from '../../messaging/documents/texts/by-locale.ts';
import type { MailContent } from '../../messaging/mails/compose-mail.ts';
import type { MailIssuer } from '../../messaging/mails/mail-issuer.ts';
import { payMark } from '../../messaging/mails/pay-link.ts';
import type { TemplateName } from '../../messaging/mails/templates.ts';
import { payTextsOf } from '../../messaging/pay-texts/by-locale.ts';
import { contentOf as contentOfRequest } from '../../payments/collect-payments/request-mail-words.ts';
import { changeContent, linkContent } from '../customer-portal/commands/mails.ts';
import { exampleNotice } from './example-notices.ts';

/** An id that no record has: the links of an example lead nowhere. */
const NOBODY = '00000000-0000-7000-8000-000000000000';
const TERM_DAYS = 14;
const CENTS = 123_456;
const OLDER_CENTS = 2_000;
const ATTEMPT = { number: 1, of: 3 };

interface Example {
  locale: DocumentLocale;
  issuer: MailIssuer;
  entity: BillingEntityRow;
}

/** What a mail says about records that do not exist, in the currency and the zone of its issuer. */
export function exampleContent(ctx: Context, template: TemplateName, { locale, issuer, entity }: Example): MailContent {
  const language = languageOf(locale, null);
  const format = formatOf(locale, entity.default_currency as Currency, entity.timezone);
  const today = ctx.now().toZonedDateTimeISO(entity.timezone).toPlainDate();
  const about = { locale, issuer, customer: { id: NOBODY as CustomerId, name: 'Ada Analytics' } };
  const texts = payTextsOf(locale);
  const linkDays = ctx.config.PAY_LINK_DAYS;
  switch (template) {
    case 'invoice':
    case 'credit_note':
    case 'payment_receipt': {
      const due = { amount: format.amount(CENTS), date: format.date(today.add({ days: TERM_DAYS })) };
      return contentOfDocument({
        ...about,
        template,
        model: exampleModel(template, { language, format, today }),
        texts,
        due: template === 'invoice' ? due : null,
        pay: { mark: payMark({ type: 'Invoice', id: NOBODY }), linkDays },
      });
    }
    case 'payment_request':
    case 'invoice_overdue':
    case 'payment_action':
    case 'payment_failed': {
      const isOfOne = template === 'payment_action' || template === 'payment_failed';
      const invoices = [exampleInvoice('INV-6', OLDER_CENTS, today, 40), exampleInvoice('INV-7', CENTS, today, 12)];
      return contentOfRequest({
        ...about,
        template,
        attempt: template === 'invoice_overdue' ? ATTEMPT : undefined,
        invoices: isOfOne ? invoices.slice(1) : invoices,
        more: 0,
        dueCents: isOfOne ? CENTS : OLDER_CENTS + CENTS,
        today,
        expectedOn: new Map(),
        wasRefused: false,
        way: template === 'payment_action' ? 'confirm' : 'page',
        mark: payMark({ type: 'PaymentRequest', id: NOBODY }),
        linkDays,
        language,
        texts,
        format,
      });
    }
    case 'portal_link':
      return linkContent(about, ctx.config.PORTAL_TOKEN_TTL_HOURS);
    case 'details_changed':
      return changeContent(about);
    case 'wallet_low':
    case 'top_up_failed':
    case 'trial_ending':
    case 'subscription_ending':
    case 'usage_alert':
    case 'endpoint_disabled':
    case 'key_created':
      return exampleNotice(ctx, template, { about, format, today });
  }
}

const exampleInvoice = (number: string, cents: number, today: Temporal.PlainDate, daysLate: number) => ({
  id: NOBODY as InvoiceId,
  number,
  status: 'finalized' as const,
  issuing_date: today.subtract({ days: daysLate + TERM_DAYS }),
  payment_due_date: today.subtract({ days: daysLate }),
  total_amount_cents: cents,
  total_paid_amount_cents: 0,
  total_offsetted_credit_note_amount_cents: 0,
  total_written_off_amount_cents: 0,
});

interface Drawn {
  language: Language;
  format: Format;
  today: Temporal.PlainDate;
}

const TITLES = { invoice: 'invoice', credit_note: 'creditNote', payment_receipt: 'receipt' } as const;
const DATES = { invoice: 'issuedOn', credit_note: 'noteIssuedOn', payment_receipt: 'paidOn' } as const;
const NUMBERS = { invoice: 'INV-7', credit_note: 'INV-7-CN1', payment_receipt: 'RCPT-7' } as const;
/** Seats of a month and calls of an interface; together 1,234.56. */
const SEATS_CENTS = 98_000;
const CALLS_CENTS = CENTS - SEATS_CENTS;

function exampleModel(kind: keyof typeof TITLES, { language: { locale, texts }, format, today }: Drawn): DocumentModel {
  const total = format.amount(CENTS);
  const headlines = {
    invoice: {
      text: fill(texts.amountDue, { amount: total }),
      note: fill(texts.payableUntil, { date: format.date(today.add({ days: TERM_DAYS })) }),
    },
    credit_note: { text: fill(texts.amountCredited, { amount: total }), note: texts.toBalance },
    payment_receipt: {
      text: fill(texts.amountPaid, { amount: total }),
      note: `${texts.paidOn} ${format.date(today)}`,
    },
  };
  const line = (name: string, cents: number) => ({ kind: 'line' as const, cells: [name, format.amount(cents)] });
  const row =
    kind === 'payment_receipt'
      ? [line('INV-7', CENTS)]
      : [line(texts.subscriptionFee, SEATS_CENTS), line('API', CALLS_CENTS)];
  return {
    language: locale,
    title: texts.titles[TITLES[kind]],
    number: NUMBERS[kind],
    logo: null,
    paper: 'A4',
    facts: [{ label: texts[DATES[kind]], value: format.date(today) }],
    parties: [],
    headline: headlines[kind],
    columns: [],
    tables: [{ title: null, rows: row }],
    totals: [{ label: texts.total, value: total, kind: 'grand' }],
    notes: [],
    pageLabel: texts.page,
  };
}
