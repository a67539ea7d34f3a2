import type { Currency } from '../../../engine/money/currency.ts';
import type { Context } from '../../../platform/context.ts';
import type { BillingEntityId } from '../../../platform/ids.ts';
import { type CustomerRow, readCustomer } from '../../customers/customers/queries.ts';
import type { BankAccount } from '../../customers/e-invoicing.ts';
import { findProviderById } from '../../customers/payment-providers/queries.ts';
import { dueOf } from '../../invoices/invoices/amount-due.ts';
import { type InvoiceRow, listInvoicesByIds } from '../../invoices/invoices/queries.ts';
import { askForDocument } from '../../messaging/documents/ask-for-document.ts';
import { type Format, fill, formatOf } from '../../messaging/documents/number-and-date-formats.ts';
import { type Language, languageOf } from '../../messaging/documents/texts/by-locale.ts';
import { payMark, withoutMarks } from '../../messaging/mails/pay-link.ts';
import { postMail } from '../../messaging/mails/post-mail.ts';
import { payTextsOf } from '../../messaging/pay-texts/by-locale.ts';
import type { PayTexts } from '../../messaging/pay-texts/pay-texts.ts';
import type { RequestRow } from '../payment-requests/queries.ts';
import { accountFor, canPayOnPage, referenceOf } from '../payments/ways-to-pay.ts';

/** How many invoices a mail lists, and has drawn for the page that it leads to; the others are counted. */
const INVOICES_SHOWN = 50;

interface Issuer {
  name: string;
  email: string | null;
  document_locale: string;
  timezone: string;
  bank_accounts: BankAccount[];
}

interface Writing {
  request: RequestRow;
  customer: CustomerRow;
  issuer: Issuer;
  /** Those that still owe something, oldest first. */
  invoices: readonly InvoiceRow[];
  dueCents: number;
  language: Language;
  texts: PayTexts;
  format: Format;
}

/**
 * Mails the customer of a request which invoices are overdue, what they owe, and how to pay: by the pay link, else to
 * which account, else whom to ask. Nothing is mailed once nothing is due.
 *
 * @param wasRefused the charge of the whole amount was refused
 * Rule: payment-requests.md#the-mail-of-a-request.
 */
export async function mailRequest(ctx: Context, request: RequestRow, { wasRefused = false } = {}): Promise<void> {
  const writing = await gather(ctx, request);
  const { issuer, dueCents, format, texts, invoices } = writing;
  if (dueCents <= 0) return;
  const [campaign] = await ctx.db<{ bcc_emails: string[] }[]>`
    select bcc_emails from dunning_campaigns
    where organization_id = ${ctx.organizationId} and id = ${request.dunning_campaign_id}`;
  const isPosted = await postMail(ctx, {
    to: (request.email ?? '').split(',').filter((address) => address !== ''),
    bcc: campaign?.bcc_emails ?? [],
    senderName: issuer.name,
    replyTo: issuer.email,
    subject: fill(texts.mail.subject, { issuer: issuer.name, amount: format.amount(dueCents) }),
    text: await textOf(ctx, writing, wasRefused),
  });
  if (!isPosted) return;
  // The page of the link shows the PDFs that have been drawn by then.
  for (const { id, number } of invoices.slice(0, INVOICES_SHOWN))
    await askForDocument(ctx, { kind: 'invoice', subjectId: id, number });
}

async function gather(ctx: Context, request: RequestRow): Promise<Writing> {
  const customer = await readCustomer(ctx, request.customer_id);
  const issuer = await readIssuer(ctx, request.billing_entity_id);
  const asked = await listInvoicesByIds(ctx, request.invoice_ids);
  const invoices = asked
    .filter((invoice) => invoice.payment_status !== 'succeeded' && dueOf(invoice) > 0)
    .sort((a, b) => (a.issuing_date.toString() < b.issuing_date.toString() ? -1 : 1));
  const language = languageOf(customer.document_locale, issuer.document_locale);
  return {
    request,
    customer,
    issuer,
    invoices,
    dueCents: invoices.reduce((total, invoice) => total + dueOf(invoice), 0),
    language,
    texts: payTextsOf(language.locale),
    format: formatOf(language.locale, request.amount_currency as Currency, customer.timezone ?? issuer.timezone),
  };
}

async function readIssuer(ctx: Context, id: BillingEntityId): Promise<Issuer> {
  const [row] = await ctx.db<Issuer[]>`
    select coalesce(nullif(legal_name, ''), name) as name, nullif(email, '') as email, document_locale, timezone,
      bank_accounts
    from billing_entities where organization_id = ${ctx.organizationId} and id = ${id}`;
  return { ...row!, name: withoutMarks(row!.name) };
}

async function textOf(ctx: Context, writing: Writing, wasRefused: boolean): Promise<string> {
  const { issuer, invoices, dueCents, texts, format, language } = writing;
  const rest = invoices.length - INVOICES_SHOWN;
  const blocks = [
    wasRefused ? texts.mail.refused : '',
    [
      fill(texts.mail.overdue, { issuer: issuer.name }),
      ...invoices.slice(0, INVOICES_SHOWN).map((invoice) => lineOf(invoice, language, format)),
      ...(rest > 0 ? [fill(texts.more, { count: String(rest) })] : []),
      `${language.texts.total}: ${format.amount(dueCents)}`,
    ].join('\n'),
    await waysOf(ctx, writing),
    [issuer.name, ...(issuer.email === null ? [] : [issuer.email])].join('\n'),
  ];
  return blocks.filter((block) => block !== '').join('\n\n');
}

function lineOf(invoice: InvoiceRow, { texts }: Language, format: Format): string {
  const due = fill(texts.payableUntil, { date: format.date(invoice.payment_due_date) });
  return `- ${withoutMarks(invoice.number)} · ${format.date(invoice.issuing_date)} · ${due} · ${format.amount(dueOf(invoice))}`;
}

/** How the amount can be paid. */
async function waysOf(ctx: Context, writing: Writing): Promise<string> {
  const { request, customer, issuer, invoices, dueCents, texts, language } = writing;
  const connection =
    customer.payment_provider_id === null ? undefined : await findProviderById(ctx, customer.payment_provider_id);
  const amount = { amountCents: dueCents, currency: request.amount_currency };
  if (canPayOnPage({ connection, provider_customer_id: customer.provider_customer_id }, amount)) {
    const payHere = fill(texts.mail.payHere, { days: String(ctx.config.PAY_LINK_DAYS) });
    return `${payHere}\n${payMark({ type: 'PaymentRequest', id: request.id })}\n${texts.mail.onPage}`;
  }
  const account = accountFor(issuer.bank_accounts, request.amount_currency);
  if (!account) return fill(texts.ask, { issuer: [issuer.name, issuer.email ?? ''].join(' ').trim() });
  const rows: [string, string | null][] = [
    [texts.transfer.holder, account.holder ?? issuer.name],
    ['IBAN', account.iban],
    ['BIC', account.bic],
    [language.texts.reference, referenceOf(invoices.map(({ number }) => number))],
  ];
  const lines = rows.flatMap(([name, value]) => (value === null ? [] : [`${name}: ${withoutMarks(value)}`]));
  return [texts.transfer.text, ...lines].join('\n');
}
