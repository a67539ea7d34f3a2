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
import { payMark, withoutMarks } from '../../messaging/mails/pay-link.ts';
import { postMail } from '../../messaging/mails/post-mail.ts';
import { payTextsOf } from '../../messaging/pay-texts/by-locale.ts';
import type { RequestRow } from '../payment-requests/queries.ts';
import { isUnderWay } from '../payments/queries.ts';
import { accountFor, canPayOnPage } from '../payments/ways-to-pay.ts';
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
 * Rule: payment-requests.md#the-mail-of-a-request.
 */
export async function mailRequest(ctx: Context, request: RequestRow, { wasRefused = false } = {}): Promise<void> {
  const owing = (await listInvoicesByIds(ctx, request.invoice_ids))
    .filter((invoice) => invoice.payment_status !== 'succeeded' && dueOf(invoice) > 0)
    .sort((a, b) => (a.issuing_date.toString() < b.issuing_date.toString() ? -1 : 1));
  if (owing.length === 0) return;
  const mail = await gather(ctx, request, { owing, wasRefused });
  const [campaign] = await ctx.db<{ bcc_emails: string[] }[]>`
    select bcc_emails from dunning_campaigns
    where organization_id = ${ctx.organizationId} and id = ${request.dunning_campaign_id}`;
  const drawn = mail.invoices.map(({ id, number }) => ({ kind: 'invoice' as const, subjectId: id, number }));
  const isPosted = await postMail(ctx, {
    to: (request.email ?? '').split(',').filter((address) => address !== ''),
    bcc: campaign?.bcc_emails ?? [],
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

async function gather(
  ctx: Context,
  request: RequestRow,
  { owing, wasRefused }: { owing: readonly InvoiceRow[]; wasRefused: boolean },
): Promise<RequestMail> {
  const customer = await readCustomer(ctx, request.customer_id);
  const issuer = await readIssuer(ctx, request.billing_entity_id);
  const expectedOn = await expectedDays(ctx, owing);
  const dueCents = owing.reduce((total, invoice) => total + dueOf(invoice), 0);
  const language = languageOf(customer.document_locale, issuer.document_locale);
  return {
    issuer,
    invoices: owing.slice(0, INVOICES_SHOWN),
    more: Math.max(owing.length - INVOICES_SHOWN, 0),
    dueCents,
    expectedOn,
    wasRefused,
    way: await wayOf(ctx, { customer, issuer, amountCents: dueCents, currency: request.amount_currency }),
    mark: payMark({ type: 'PaymentRequest', id: request.id }),
    linkDays: ctx.config.PAY_LINK_DAYS,
    language,
    texts: payTextsOf(language.locale),
    format: formatOf(language.locale, request.amount_currency as Currency, customer.timezone ?? issuer.timezone),
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
  {
    customer,
    issuer,
    amountCents,
    currency,
  }: { customer: CustomerRow; issuer: Issuer; amountCents: number; currency: string },
): Promise<RequestMail['way']> {
  const { payment_provider_id: connectionId, provider_customer_id } = customer;
  const connection = connectionId === null ? undefined : await findProviderById(ctx, connectionId);
  if (canPayOnPage({ connection, provider_customer_id }, { amountCents, currency })) return 'page';
  return accountFor(issuer.bank_accounts, currency) ?? 'ask';
}
