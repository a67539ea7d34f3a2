import type { Temporal } from 'temporal-polyfill';
import type { Currency } from '../../../engine/money/currency.ts';
import type { Context } from '../../../platform/context.ts';
import type { BillingEntityId, InvoiceId } from '../../../platform/ids.ts';
import { mailAddressesOf, mailedName } from '../../customers/customers/mail-addressee.ts';
import { type CustomerRow, readCustomer } from '../../customers/customers/queries.ts';
import type { BankAccount } from '../../customers/e-invoicing.ts';
import { findProviderById } from '../../customers/payment-providers/queries.ts';
import { dueOf } from '../../invoices/invoices/amount-due.ts';
import { type InvoiceRow, listInvoicesByIds } from '../../invoices/invoices/queries.ts';
import { askForDocument } from '../../messaging/documents/ask-for-document.ts';
import { formatOf } from '../../messaging/documents/number-and-date-formats.ts';
import { languageOf } from '../../messaging/documents/texts/by-locale.ts';
import { composeMail, type MailContent } from '../../messaging/mails/compose-mail.ts';
import { isMailOn, readMailIssuer } from '../../messaging/mails/mail-issuer.ts';
import { type Payable, payMark } from '../../messaging/mails/pay-link.ts';
import { addressed, postMail } from '../../messaging/mails/post-mail.ts';
import { payTextsOf } from '../../messaging/pay-texts/by-locale.ts';
import type { RequestRow } from '../payment-requests/queries.ts';
import { isUnderWay, type PaymentRow } from '../payments/queries.ts';
import { transferOf, transferTo } from '../payments/transfer-instructions.ts';
import { accountFor, canPayOnPage, referenceOf } from '../payments/ways-to-pay.ts';
import { contentOf, type RequestMail } from './request-mail-words.ts';

/**
 * How many invoices a mail lists, and has drawn; the others are counted. A mail that counts some attaches none, so that
 * nobody takes its files for all.
 */
const INVOICES_SHOWN = 50;

/** What a charge has to do with a mail. */
interface Charge {
  /** It waits for the customer: the mail says what is to be done. */
  waiting?: PaymentRow;
  /** It was refused. */
  refused?: PaymentRow;
  /** It took nothing: the customer pays otherwise. */
  left?: PaymentRow;
}

/**
 * Mails the customer of a request which invoices are overdue, what they owe, and how to pay: by the pay link, else to
 * which account, else whom to ask. Nothing is mailed once nothing is due, nor twice of the same charge.
 *
 * Rules: payment-requests.md#the-mail-of-a-request, mails.md#templates.
 */
export async function mailRequest(ctx: Context, request: RequestRow, charge: Charge = {}): Promise<void> {
  const content = await readRequestContent(ctx, request, charge);
  if (!content || !(await isMailOn(ctx, request.billing_entity_id, content.template))) return;
  const [campaign] = await ctx.db<{ bcc_emails: string[] }[]>`
    select bcc_emails from dunning_campaigns
    where organization_id = ${ctx.organizationId} and id = ${request.dunning_campaign_id}`;
  await post(ctx, content, {
    resource: { type: 'PaymentRequest', id: request.id },
    occasion: occasionOf(charge),
    to: request.email,
    bcc: campaign?.bcc_emails ?? [],
  });
}

const occasionOf = ({ waiting, refused, left }: Charge): string =>
  waiting ? `waiting ${waiting.id}` : refused ? `refused ${refused.id}` : left ? `left ${left.id}` : 'asked';

/** What the mail of a request says; undefined once nothing is due. */
export async function readRequestContent(
  ctx: Context,
  request: RequestRow,
  charge: Charge = {},
): Promise<RequestContent | undefined> {
  const owing = (await listInvoicesByIds(ctx, request.invoice_ids))
    .filter((invoice) => invoice.payment_status !== 'succeeded' && dueOf(invoice) > 0)
    .sort((a, b) => (a.issuing_date.toString() < b.issuing_date.toString() ? -1 : 1));
  return gather(ctx, {
    payable: { type: 'PaymentRequest', id: request.id },
    template: charge.waiting
      ? 'payment_action'
      : request.dunning_attempt === null
        ? 'payment_request'
        : 'invoice_overdue',
    attempt: await readAttempt(ctx, request),
    customer: await readCustomer(ctx, request.customer_id),
    billingEntityId: request.billing_entity_id,
    currency: request.amount_currency,
    owing,
    wasRefused: charge.refused !== undefined,
    waiting: charge.waiting,
  });
}

/** Which attempt of its campaign made a request, and of how many; at least as many as were made. */
async function readAttempt(ctx: Context, { dunning_attempt: number, dunning_campaign_id }: RequestRow) {
  if (number === null) return undefined;
  const [campaign] = await ctx.db<{ max_attempts: number }[]>`
    select max_attempts from dunning_campaigns
    where organization_id = ${ctx.organizationId} and id = ${dunning_campaign_id}`;
  return { number, of: Math.max(campaign?.max_attempts ?? 0, number) };
}

/**
 * Mails the customer of an invoice that its payment waits for them: for their consent, or for a transfer to the account
 * that the provider names. An invoice that is not final has no page, and is not mailed.
 *
 * Rule: payments.md#charged-on-line.
 */
export const mailWaitingPayment = (ctx: Context, invoice: InvoiceRow, waiting: PaymentRow): Promise<void> =>
  mailInvoiceCharge(ctx, invoice, { waiting });

/**
 * Mails the customer of an invoice that it could not be charged, and how else it can be paid, where its issuer has such
 * mails sent. Rule: mails.md#templates.
 */
export const mailRefusedPayment = (ctx: Context, invoice: InvoiceRow, refused: PaymentRow): Promise<void> =>
  mailInvoiceCharge(ctx, invoice, { refused });

async function mailInvoiceCharge(ctx: Context, invoice: InvoiceRow, charge: Charge): Promise<void> {
  const template = charge.waiting ? 'payment_action' : 'payment_failed';
  if (invoice.status !== 'finalized' || !(await isMailOn(ctx, invoice.billing_entity_id, template))) return;
  // A refused top-up has a mail of its own: one of them is enough.
  const isToldAlready = invoice.invoice_type === 'credit' && charge.refused !== undefined;
  if (isToldAlready && (await isMailOn(ctx, invoice.billing_entity_id, 'top_up_failed'))) return;
  const customer = await readCustomer(ctx, invoice.customer_id);
  const content = await readInvoiceChargeContent(ctx, invoice, customer, charge);
  if (content)
    await post(ctx, content, {
      resource: { type: 'Invoice', id: invoice.id },
      occasion: occasionOf(charge),
      to: customer.email,
      bcc: [],
    });
}

/** What the mail of an invoice says whose charge waits or was refused; undefined once nothing is due. */
export const readInvoiceChargeContent = (
  ctx: Context,
  invoice: InvoiceRow,
  customer: CustomerRow,
  { waiting }: Charge = {},
): Promise<RequestContent | undefined> =>
  gather(ctx, {
    payable: { type: 'Invoice', id: invoice.id },
    template: waiting ? 'payment_action' : 'payment_failed',
    attempt: undefined,
    customer,
    billingEntityId: invoice.billing_entity_id,
    currency: invoice.currency,
    owing: invoice.payment_status === 'succeeded' || dueOf(invoice) <= 0 ? [] : [invoice],
    wasRefused: false,
    waiting,
  });

/** Who is mailed about what. */
interface Occasion {
  payable: Payable;
  template: RequestMail['template'];
  attempt: RequestMail['attempt'];
  customer: CustomerRow;
  billingEntityId: BillingEntityId;
  currency: string;
  /** Invoices that owe something, oldest first. */
  owing: readonly InvoiceRow[];
  wasRefused: boolean;
  waiting: PaymentRow | undefined;
}

interface RequestContent extends MailContent {
  /** Invoices that are listed, and how many more there are. */
  invoices: readonly InvoiceRow[];
  more: number;
}

interface Posting {
  resource: { type: string; id: string };
  occasion: string;
  /** Addresses, divided by commas. */
  to: string | null;
  bcc: readonly string[];
}

async function post(ctx: Context, content: RequestContent, { resource, occasion, to, bcc }: Posting): Promise<void> {
  const drawn = content.invoices.map(({ id, number }) => ({ kind: 'invoice' as const, subjectId: id, number }));
  const isPosted = await postMail(ctx, {
    ...addressed(content),
    ...(await composeMail(ctx, content)),
    resource,
    occasion,
    isAutomatic: true,
    to: mailAddressesOf({ email: to }),
    bcc,
    attached: content.more > 0 ? [] : drawn,
  });
  // The page of the link shows the PDFs that have been drawn by then.
  if (isPosted && content.more > 0) for (const each of drawn) await askForDocument(ctx, each);
}

async function gather(ctx: Context, occasion: Occasion): Promise<RequestContent | undefined> {
  const { customer, owing, payable, template, attempt } = occasion;
  if (owing.length === 0) return undefined;
  const issuer = await readMailIssuer(ctx, occasion.billingEntityId);
  const dueCents = owing.reduce((total, invoice) => total + dueOf(invoice), 0);
  const language = languageOf(customer.document_locale, issuer.document_locale);
  const zone = customer.timezone ?? issuer.timezone;
  const invoices = owing.slice(0, INVOICES_SHOWN);
  const more = Math.max(owing.length - INVOICES_SHOWN, 0);
  const content = contentOf({
    template,
    attempt,
    issuer,
    customer: { id: customer.id, name: mailedName(customer) },
    invoices,
    more,
    dueCents,
    today: ctx.now().toZonedDateTimeISO(zone).toPlainDate(),
    expectedOn: await expectedDays(ctx, owing),
    wasRefused: occasion.wasRefused,
    way: await wayOf(ctx, occasion, dueCents),
    mark: payMark(payable),
    linkDays: ctx.config.PAY_LINK_DAYS,
    language,
    texts: payTextsOf(language.locale),
    format: formatOf(language.locale, occasion.currency as Currency, zone),
  });
  return { ...content, invoices, more };
}

const readAccounts = async (ctx: Context, id: BillingEntityId): Promise<BankAccount[]> => {
  const [row] = await ctx.db<{ bank_accounts: BankAccount[] }[]>`
    select bank_accounts from billing_entities where organization_id = ${ctx.organizationId} and id = ${id}`;
  return row!.bank_accounts;
};

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
  { customer, billingEntityId, currency, owing, waiting }: Occasion,
  amountCents: number,
): Promise<RequestMail['way']> {
  if (waiting) return transferOf(waiting.next_action) ?? 'confirm';
  const { payment_provider_id: connectionId } = customer;
  const connection = connectionId === null ? undefined : await findProviderById(ctx, connectionId);
  if (canPayOnPage({ ...customer, connection }, { amountCents, currency })) return 'page';
  const account = accountFor(await readAccounts(ctx, billingEntityId), currency);
  return account ? transferTo(account, referenceOf(owing.map(({ number }) => number))) : 'ask';
}
