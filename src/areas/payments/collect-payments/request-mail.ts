import type { Temporal } from 'temporal-polyfill';
import type { Currency } from '../../../engine/money/currency.ts';
import type { Context } from '../../../platform/context.ts';
import type { BillingEntityId, InvoiceId } from '../../../platform/ids.ts';
import { type CustomerRow, readCustomer } from '../../customers/customers/queries.ts';
import type { BankAccount } from '../../customers/e-invoicing.ts';
import { findProviderById } from '../../customers/payment-providers/queries.ts';
import { dueOf } from '../../invoices/invoices/amount-due.ts';
import { type InvoiceRow, listInvoicesByIds } from '../../invoices/invoices/queries.ts';
import { askForDocument } from '../../messaging/documents/ask-for-document.ts';
import { formatOf } from '../../messaging/documents/number-and-date-formats.ts';
import { languageOf } from '../../messaging/documents/texts/by-locale.ts';
import { type Payable, payMark, withoutMarks } from '../../messaging/mails/pay-link.ts';
import { postMail } from '../../messaging/mails/post-mail.ts';
import { payTextsOf } from '../../messaging/pay-texts/by-locale.ts';
import type { RequestRow } from '../payment-requests/queries.ts';
import { isUnderWay, type PaymentRow } from '../payments/queries.ts';
import { transferOf, transferTo } from '../payments/transfer-instructions.ts';
import { accountFor, canPayOnPage, referenceOf } from '../payments/ways-to-pay.ts';
import { htmlOf, type RequestMail, subjectOf, textOf } from './request-mail-words.ts';

/**
 * How many invoices a mail lists, and has drawn; the others are counted. A mail that counts some attaches none, so that
 * nobody takes its files for all.
 */
const INVOICES_SHOWN = 50;

interface Issuer {
  name: string;
  email: string | null;
  logo_url: string | null;
  document_locale: string;
  timezone: string;
  bank_accounts: BankAccount[];
}

/**
 * Mails the customer of a request which invoices are overdue, what they owe, and how to pay: by the pay link, else to
 * which account, else whom to ask. Nothing is mailed once nothing is due.
 *
 * @param wasRefused the charge of the whole amount was refused
 * @param waiting    the payment that waits for the customer: the mail says what is to be done
 * Rule: payment-requests.md#the-mail-of-a-request.
 */
export async function mailRequest(
  ctx: Context,
  request: RequestRow,
  { wasRefused = false, waiting }: { wasRefused?: boolean; waiting?: PaymentRow } = {},
): Promise<void> {
  const owing = (await listInvoicesByIds(ctx, request.invoice_ids))
    .filter((invoice) => invoice.payment_status !== 'succeeded' && dueOf(invoice) > 0)
    .sort((a, b) => (a.issuing_date.toString() < b.issuing_date.toString() ? -1 : 1));
  const [campaign] = await ctx.db<{ bcc_emails: string[] }[]>`
    select bcc_emails from dunning_campaigns
    where organization_id = ${ctx.organizationId} and id = ${request.dunning_campaign_id}`;
  await post(ctx, {
    payable: { type: 'PaymentRequest', id: request.id },
    customer: await readCustomer(ctx, request.customer_id),
    to: request.email,
    bcc: campaign?.bcc_emails ?? [],
    billingEntityId: request.billing_entity_id,
    currency: request.amount_currency,
    owing,
    wasRefused,
    waiting,
  });
}

/**
 * Mails the customer of an invoice that its payment waits for them: for their consent, or for a transfer to the account
 * that the provider names. An invoice that is not final has no page, and is not mailed.
 *
 * Rule: payments.md#charged-on-line.
 */
export async function mailWaitingPayment(ctx: Context, invoice: InvoiceRow, waiting: PaymentRow): Promise<void> {
  if (invoice.status !== 'finalized') return;
  const customer = await readCustomer(ctx, invoice.customer_id);
  await post(ctx, {
    payable: { type: 'Invoice', id: invoice.id },
    customer,
    to: customer.email,
    bcc: [],
    billingEntityId: invoice.billing_entity_id,
    currency: invoice.currency,
    owing: invoice.payment_status === 'succeeded' || dueOf(invoice) <= 0 ? [] : [invoice],
    wasRefused: false,
    waiting,
  });
}

/** Who is mailed about what. */
interface Occasion {
  payable: Payable;
  customer: CustomerRow;
  /** Addresses, divided by commas. */
  to: string | null;
  bcc: readonly string[];
  billingEntityId: BillingEntityId;
  currency: string;
  /** Invoices that owe something, oldest first. */
  owing: readonly InvoiceRow[];
  wasRefused: boolean;
  waiting: PaymentRow | undefined;
}

async function post(ctx: Context, occasion: Occasion): Promise<void> {
  if (occasion.owing.length === 0) return;
  const mail = await gather(ctx, occasion);
  const drawn = mail.invoices.map(({ id, number }) => ({ kind: 'invoice' as const, subjectId: id, number }));
  const isPosted = await postMail(ctx, {
    to: (occasion.to ?? '').split(',').filter((address) => address !== ''),
    bcc: occasion.bcc,
    senderName: mail.issuer.name,
    replyTo: mail.issuer.email,
    subject: subjectOf(mail),
    text: textOf(mail),
    html: htmlOf(mail),
    attached: mail.more > 0 ? [] : drawn,
  });
  // The page of the link shows the PDFs that have been drawn by then.
  if (isPosted && mail.more > 0) for (const each of drawn) await askForDocument(ctx, each);
}

async function gather(ctx: Context, occasion: Occasion): Promise<RequestMail> {
  const { customer, owing, payable } = occasion;
  const issuer = await readIssuer(ctx, occasion.billingEntityId);
  const expectedOn = await expectedDays(ctx, owing);
  const dueCents = owing.reduce((total, invoice) => total + dueOf(invoice), 0);
  const language = languageOf(customer.document_locale, issuer.document_locale);
  return {
    issuer,
    invoices: owing.slice(0, INVOICES_SHOWN),
    more: Math.max(owing.length - INVOICES_SHOWN, 0),
    dueCents,
    expectedOn,
    isReminder: payable.type === 'PaymentRequest',
    wasRefused: occasion.wasRefused,
    way: await wayOf(ctx, occasion, { issuer, amountCents: dueCents }),
    mark: payMark(payable),
    linkDays: ctx.config.PAY_LINK_DAYS,
    language,
    texts: payTextsOf(language.locale),
    format: formatOf(language.locale, occasion.currency as Currency, customer.timezone ?? issuer.timezone),
  };
}

async function readIssuer(ctx: Context, id: BillingEntityId): Promise<Issuer> {
  const [row] = await ctx.db<Issuer[]>`
    select coalesce(nullif(legal_name, ''), name) as name, nullif(email, '') as email, logo_url, document_locale,
      timezone, bank_accounts
    from billing_entities where organization_id = ${ctx.organizationId} and id = ${id}`;
  return { ...row!, name: withoutMarks(row!.name) };
}

/** Days on which bank debits of invoices are expected. Rule: provider-connections.md#gocardless. */
async function expectedDays(
  { db, organizationId }: Context,
  invoices: readonly InvoiceRow[],
): Promise<RequestMail['expectedOn']> {
  const rows = await db<{ invoice_id: InvoiceId; expected_on: Temporal.PlainDate }[]>`
    select share.invoice_id, max(payment.expected_settlement_date) as expected_on
    from payment_invoices share
    join payments payment on payment.organization_id = share.organization_id and payment.id = share.payment_id
    where share.organization_id = ${organizationId} and share.invoice_id = any (${invoices.map(({ id }) => id)})
      and payment.expected_settlement_date is not null and ${isUnderWay(db)}
    group by share.invoice_id`;
  return new Map(rows.map((row) => [row.invoice_id, row.expected_on]));
}

async function wayOf(
  ctx: Context,
  { customer, currency, owing, waiting }: Occasion,
  { issuer, amountCents }: { issuer: Issuer; amountCents: number },
): Promise<RequestMail['way']> {
  if (waiting) return transferOf(waiting.next_action) ?? 'confirm';
  const { payment_provider_id: connectionId } = customer;
  const connection = connectionId === null ? undefined : await findProviderById(ctx, connectionId);
  if (canPayOnPage({ ...customer, connection }, { amountCents, currency })) return 'page';
  const account = accountFor(issuer.bank_accounts, currency);
  return account ? transferTo(account, referenceOf(owing.map(({ number }) => number))) : 'ask';
}
