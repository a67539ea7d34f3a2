import type { Temporal } from 'temporal-polyfill';
import type { Currency } from '../../../engine/money/currency.ts';
import { type Html, html } from '../../../platform/html.ts';
import { type Format, fill, formatOf } from '../../messaging/documents/number-and-date-formats.ts';
import { payTextsOf } from '../../messaging/pay-texts/by-locale.ts';
import { transferOf } from '../../payments/payments/transfer-instructions.ts';
import { subscriptionName } from '../../subscriptions/subscriptions/printed-name.ts';
import { pageOf } from './layout.ts';
import { isToPay, type PaymentState, paymentStateOf } from './payment-state.ts';
import type {
  PortalCreditNote,
  PortalCustomer,
  PortalDocuments,
  PortalInvoice,
  PortalReceipt,
  PortalWallet,
} from './queries.ts';
import { LISTS, type List, type ListName, type Portal } from './reads.ts';
import { datesOf } from './subscription-dates.ts';
import type { PortalLanguage } from './texts/by-locale.ts';

/** Language and formats that every part of the page uses. */
interface Writing {
  portal: Portal;
  language: PortalLanguage;
  /** Address of the documents, relative to the page. */
  root: string;
  /** Whether what the customer can do is offered: to pay. */
  mayAct: boolean;
  formatOf(currency: string): Format;
  date(day: Temporal.PlainDate): string;
  day(at: Temporal.Instant): string;
}

const BADGES: Readonly<Record<PaymentState, string>> = {
  paid: 'good',
  settled: 'good',
  underWay: 'wait',
  partlyPaid: 'wait',
  open: 'wait',
  overdue: 'bad',
  failed: 'bad',
};
const STATE_BADGES = { active: 'good', pending: '', incomplete: 'wait', terminated: '', canceled: '' } as const;

/** The portal page: balances, subscriptions with usage, credits and documents. */
export function portalPage(portal: Portal, shown: Pick<Writing, 'language' | 'root' | 'mayAct'>): string {
  const { customer } = portal;
  const { language } = shown;
  const { words, documents } = language;
  const formats = new Map<string, Format>();
  const date = (day: Temporal.PlainDate) => day.toLocaleString(language.locale, { dateStyle: 'medium' });
  const writing: Writing = {
    portal,
    ...shown,
    formatOf(currency) {
      const format = formats.get(currency) ?? formatOf(language.locale, currency as Currency, customer.zone);
      formats.set(currency, format);
      return format;
    },
    date,
    day: (at) => date(at.toZonedDateTimeISO(customer.zone).toPlainDate()),
  };
  const content = html`${headOf(writing)}
<h2>${words.balance}</h2>
${balancesOf(writing)}
${listOf(writing, 'subscriptions', words.subscriptions, portal.subscriptions, subscriptionOf(writing))}
${portal.wallets.rows.length > 0 && listOf(writing, 'wallets', documents.prepaidCredits, portal.wallets, walletOf(writing))}
${listOf(writing, 'invoices', words.invoices, portal.invoices, invoiceOf(writing))}
${portal.creditNotes.rows.length > 0 && listOf(writing, 'credit_notes', documents.creditNotes, portal.creditNotes, noteOf(writing))}
${portal.receipts.rows.length > 0 && listOf(writing, 'payment_receipts', words.receipts, portal.receipts, receiptOf(writing))}`;
  return pageOf(language, `${words.title} – ${nameOf(customer)}`, content);
}

/** The customer's name as documents print it. */
function nameOf({ legal_name, name, firstname, lastname, external_id }: PortalCustomer): string {
  const person = [firstname, lastname].filter((part) => part !== null).join(' ');
  return legal_name || name || person || external_id;
}

function headOf({ portal: { customer } }: Writing): Html {
  const { entity_name: issuer, entity_logo: logo, entity_email: email, metadata } = customer;
  return html`<header>
${logo?.startsWith('data:image/') && html`<img src="${logo}" alt="">`}
<p class="soft">${issuer}${email && html` · <a href="mailto:${email}">${email}</a>`}</p>
<h1>${nameOf(customer)}</h1>
${metadata.map(({ key, value }) => html`<p class="soft">${key}: ${value}</p>`)}
</header>`;
}

function balancesOf({ portal: { balances }, language, formatOf }: Writing): Html | Html[] {
  const { words, documents } = language;
  if (balances.length === 0) return html`<p class="card alone soft">${words.nothing}</p>`;
  return balances.map((balance) => {
    const format = formatOf(balance.currency);
    const tile = (label: string, cents: number, tone = '') =>
      html`<div class="card tile"><span class="soft">${label}</span><b class="${tone}">${format.amount(cents)}</b></div>`;
    return html`<div class="tiles">
${tile(words.due, balance.due_amount_cents)}
${tile(words.overdue, balance.overdue_amount_cents, balance.overdue_amount_cents > 0 ? 'bad' : '')}
${balance.credit_notes_amount_cents > 0 && tile(documents.creditNotes, balance.credit_notes_amount_cents)}
</div>`;
  });
}

/** A list under its heading, with links to its other pages. */
function listOf<Row>(writing: Writing, name: ListName, title: string, list: List<Row>, show: (row: Row) => Html): Html {
  const { words } = writing.language;
  const rows =
    list.rows.length === 0
      ? html`<p class="card alone soft">${words.nothing}</p>`
      : html`<ul class="card">${list.rows.map((row) => html`<li>${show(row)}</li>\n`)}</ul>`;
  const to = (page: number, text: string) => html`<a href="${addressOf(writing.portal, name, page)}">${text}</a>`;
  const ways = html`<nav aria-label="${title}">${list.page > 1 && to(list.page - 1, words.newer)}${list.hasMore && to(list.page + 1, words.older)}</nav>`;
  return html`<h2 id="${name}">${title}</h2>
${rows}
${(list.page > 1 || list.hasMore) && ways}`;
}

/** A link to another page of one list, keeping the pages of the others. */
function addressOf(portal: Portal, name: ListName, page: number): string {
  const lists = {
    subscriptions: portal.subscriptions,
    wallets: portal.wallets,
    invoices: portal.invoices,
    credit_notes: portal.creditNotes,
    payment_receipts: portal.receipts,
  };
  const asked = LISTS.map((list) => [list, list === name ? page : lists[list].page] as const);
  const query = asked.filter(([, number]) => number > 1).map(([list, number]) => `${list}=${number}`);
  return `?${query.join('&')}#${name}`;
}

const rowOf = (title: string, hints: readonly (string | false | null)[], ...how: readonly (Html | false)[]): Html =>
  html`<div class="row"><div class="what"><strong>${title}</strong>
<span class="soft">${hints.filter((hint) => hint).join(' · ')}</span></div>
<div class="how">${how}</div></div>`;

const badge = (tone: string, text: string): Html => html`<span class="badge ${tone}">${text}</span>`;

const sumOf = (amount: string, hint?: string | false): Html =>
  html`<span class="sum">${amount}${hint && html`<span class="soft">${hint}</span>`}</span>`;

const fileOf = ({ root, language }: Writing, listed: PortalDocuments, { id, number }: { id: string; number: string }) =>
  html`<a href="${root}${listed}/${id}/pdf" aria-label="${language.words.download}: ${number}">PDF</a>`;

const subscriptionOf = (writing: Writing) => (row: Portal['subscriptions']['rows'][number]) => {
  const { portal, language } = writing;
  const { words } = language;
  const plan = row.plan_invoice_display_name ?? row.plan_name;
  const name = subscriptionName(row);
  const dates = datesOf(row, portal).map(({ text, on }) => fill(words[text], { date: writing.date(on) }));
  const status = row.status as keyof typeof words.states;
  return html`${rowOf(name, [name !== plan && plan, ...dates], badge(STATE_BADGES[status], words.states[status]))}
${row.status === 'active' && usageTable(writing, row)}`;
};

function usageTable(writing: Writing, row: Portal['subscriptions']['rows'][number]): Html | false {
  const { portal, language } = writing;
  const { words, documents } = language;
  if (portal.usage === null) return html`<p class="soft">${words.usageUnknown}</p>`;
  const usage = portal.usage.get(row.id);
  if (usage === undefined || usage.charges.length === 0) return false;
  const format = writing.formatOf(row.plan_amount_currency);
  const lines = usage.charges.map(
    ({ name, units, amountCents }) =>
      html`<tr><th scope="row">${name}</th><td>${format.units(units)}</td><td>${format.amount(amountCents)}</td></tr>\n`,
  );
  return html`<h3>${words.usage} <span class="soft">${format.period(usage.proration.period)}</span></h3>
<table>
<thead class="soft"><tr><th></th><td>${documents.units}</td><td>${documents.amount}</td></tr></thead>
<tbody>
${lines}</tbody>
<tfoot><tr><th scope="row">${documents.netTotal}</th><td></td><td>${format.amount(usage.amountCents)}</td></tr></tfoot>
</table>`;
}

const walletOf = (writing: Writing) => (wallet: PortalWallet) => {
  const { words, documents } = writing.language;
  const format = writing.formatOf(wallet.currency);
  const credits = fill(words.credits, { credits: format.units(wallet.credits_balance) });
  const isUsed = wallet.ongoing_balance_cents !== wallet.balance_cents;
  return rowOf(
    wallet.name || documents.prepaidCredits,
    [
      isUsed && fill(words.afterUsage, { amount: format.amount(wallet.ongoing_balance_cents) }),
      wallet.expiration_at && fill(words.expiresOn, { date: writing.day(wallet.expiration_at) }),
    ],
    sumOf(format.amount(wallet.balance_cents), credits),
  );
};

const invoiceOf = (writing: Writing) => (invoice: PortalInvoice) => {
  const { words, documents } = writing.language;
  const format = writing.formatOf(invoice.currency);
  const texts = payTextsOf(writing.language.locale);
  const { due_amount_cents: due, total_amount_cents: total, expected_settlement_date: expectedOn } = invoice;
  const state = paymentStateOf(invoice);
  const isOwed = due > 0 && state !== 'paid';
  return rowOf(
    invoice.number,
    [
      writing.date(invoice.issuing_date),
      isOwed && fill(documents.payableUntil, { date: writing.date(invoice.payment_due_date) }),
      isOwed && expectedOn && fill(texts.expectedOn, { date: writing.date(expectedOn) }),
      ...(isOwed && invoice.under_way === 'transfer' ? transferHints(writing, invoice) : []),
    ],
    badge(BADGES[state], words.payment[state]),
    sumOf(format.amount(total), isOwed && due !== total && fill(documents.amountDue, { amount: format.amount(due) })),
    writing.mayAct && isToPay(invoice) && payButton(writing, invoice),
    fileOf(writing, 'invoices', invoice),
  );
};

/** The account to which the customer transfers the money, and what to quote; the pay link says it in full. */
function transferHints({ language: { documents } }: Writing, { next_action }: PortalInvoice): string[] {
  const transfer = transferOf(next_action ?? {});
  const quoted = transfer?.reference ? [[documents.reference, transfer.reference] as const] : [];
  return [...(transfer?.numbers ?? []), ...quoted].map(([name, value]) => `${name} ${value}`);
}

/** Leads to the page where the invoice is paid, or its payment confirmed. */
function payButton({ portal, language }: Writing, invoice: PortalInvoice): Html {
  const label = invoice.under_way === 'confirm' ? payTextsOf(language.locale).confirm.button : language.words.pay;
  return html`<a class="button" href="${portal.payLinkOf(invoice)}" aria-label="${label}: ${invoice.number}">${label}</a>`;
}

const noteOf = (writing: Writing) => (note: PortalCreditNote) => {
  const { words, documents } = writing.language;
  const format = writing.formatOf(note.currency);
  const left = note.balance_amount_cents;
  return rowOf(
    note.number,
    [writing.date(note.issuing_date), `${documents.titles.invoice} ${note.invoice_number}`],
    sumOf(
      format.amount(note.total_amount_cents),
      left > 0 && left !== note.total_amount_cents && fill(words.left, { amount: format.amount(left) }),
    ),
    fileOf(writing, 'credit_notes', note),
  );
};

const receiptOf = (writing: Writing) => (receipt: PortalReceipt) =>
  rowOf(
    receipt.number,
    [writing.day(receipt.created_at)],
    sumOf(writing.formatOf(receipt.amount_currency).amount(receipt.amount_cents)),
    fileOf(writing, 'payment_receipts', receipt),
  );
