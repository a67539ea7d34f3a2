import type { Temporal } from 'temporal-polyfill';
import { type Html, html } from '../../../platform/html.ts';
import { type Format, fill, formatOf } from '../../messaging/documents/number-and-date-formats.ts';
import { languageOf as documentLanguageOf } from '../../messaging/documents/texts/by-locale.ts';
import { payTextsOf } from '../../messaging/pay-texts/by-locale.ts';
import type { PayTexts } from '../../messaging/pay-texts/pay-texts.ts';
import { messageOf, pageOf } from '../customer-portal/layout.ts';
import { languageOf, languageOfBrowser, type PortalLanguage } from '../customer-portal/texts/by-locale.ts';
import type { PayableRow } from './queries.ts';
import type { PayPage, PayState } from './reads.ts';

/** How many invoices of a request are listed; the others are counted. */
const INVOICES_SHOWN = 50;
/** Letters of an account number between two blanks. */
const IBAN_GROUP = /(.{4})(?=.)/g;

const grouped = (iban: string): string => iban.replace(IBAN_GROUP, '$1 ');

interface Writing {
  page: PayPage;
  language: PortalLanguage;
  texts: PayTexts;
  format: Format;
}

/** The page where a payable is paid, in the language of its customer. */
export function payPage(page: PayPage): string {
  const language = languageOf(page.payable);
  const [first] = page.invoices;
  const format = formatOf(language.locale, first?.currency ?? 'USD', page.payable.zone);
  const writing: Writing = { page, language, texts: payTextsOf(language.locale), format };
  return pageOf(
    language,
    `${titleOf(writing)} – ${page.payable.entity_name}`,
    html`<main class="pay">
${headOf(page.payable)}
<div class="card alone">${statementOf(writing)}</div>
${invoicesOf(writing)}
${footOf(page.payable)}
</main>`,
  );
}

/** A page with one message, `action` below it: the provider’s page that opens, or that it cannot be opened. */
function messagePage(payable: PayableRow, message: { title: string; text: string }, action: Html): string {
  const language = languageOf(payable);
  return pageOf(
    language,
    `${message.title} – ${payable.entity_name}`,
    html`<main class="pay">
${headOf(payable)}
<div class="card alone"><h1>${message.title}</h1><p>${message.text}</p>${action}</div>
${footOf(payable)}
</main>`,
  );
}

/** The page that leads on to the provider’s, of which the header `Refresh` is the other half. */
export function openingPage(payable: PayableRow, url: string): string {
  const { opening } = textsOf(payable);
  return messagePage(payable, opening, buttonTo(url, opening.link));
}

/** What a sandbox shows in place of a provider’s page, for the engineer who tries it. */
export const sandboxOpeningPage = (payable: PayableRow, url: string): string =>
  messagePage(
    payable,
    {
      title: 'This is a sandbox',
      text: 'Its stand-in for a payment page has no form. Finish it as the customer would, with this request:',
    },
    html`<p class="account"><code>POST ${url}</code></p>`,
  );

/** Nothing was charged, and the customer may try again. */
export function tryAgainPage(payable: PayableRow): string {
  const { tryAgain } = textsOf(payable);
  return messagePage(payable, tryAgain, formOf(tryAgain.button));
}

/** The page of a link whose life is over, in the language of the browser, because it shows nothing of its payable. */
export function expiredPage(locale: string | null): string {
  const language = languageOfBrowser(locale);
  const { title, text } = payTextsOf(language.locale).expired;
  return pageOf(language, title, messageOf({ title, text }, false));
}

const textsOf = ({ document_locale, entity_locale }: PayableRow): PayTexts =>
  payTextsOf(documentLanguageOf(document_locale, entity_locale).locale);

function headOf({ entity_name: issuer, entity_logo: logo }: PayableRow): Html {
  return html`<header>
${logo?.startsWith('data:image/') && html`<img src="${logo}" alt="">`}
<p class="soft">${issuer}</p>
</header>`;
}

const footOf = ({ entity_name: issuer, entity_email: email }: PayableRow): Html | false =>
  email !== null &&
  email !== '' &&
  html`<footer class="soft">${issuer} · <a href="mailto:${email}">${email}</a></footer>`;

function titleOf({ page: { dueCents, state }, language: { documents }, texts, format }: Writing): string {
  return state.kind === 'due' || state.kind === 'transfer' || state.kind === 'ask'
    ? fill(documents.amountDue, { amount: format.amount(dueCents) })
    : texts[state.kind].title;
}

/** What is due or has become of it, and what can be done. */
function statementOf(writing: Writing): Html {
  const { page, language, texts, format } = writing;
  const { state, dueCents, isOverdue } = page;
  const amount = format.amount(dueCents);
  const [first, ...others] = page.invoices;
  const lastDay =
    others.length === 0 &&
    first &&
    fill(language.documents.payableUntil, { date: format.date(first.payment_due_date) });
  const what = html`<p class="soft">${language.documents.titles.invoice} ${first?.number}${others.length > 0 && ` ${fill(texts.more, { count: String(others.length) })}`}</p>`;
  const title = html`${what}<h1>${titleOf(writing)}</h1>`;
  const when = html`<p class="soft">${lastDay} ${isOverdue && html`<span class="badge bad">${language.words.overdue}</span>`}</p>`;
  switch (state.kind) {
    case 'due':
      return html`${title}${when}${formOf(fill(texts.payAmount, { amount }))}`;
    case 'transfer':
      return html`${title}${when}${transferOf(state, writing)}`;
    case 'ask':
      return html`${title}${when}${askFor(page.payable, texts)}`;
    default:
      return html`${title}<p>${texts[state.kind].text}</p>${expectedOf(state, writing)}${linkOf(state, writing)}`;
  }
}

const expectedOf = (state: PayState, { texts, format }: Writing): Html | false =>
  state.kind === 'processing' &&
  state.expectedOn !== null &&
  html`<p>${fill(texts.expectedOn, { date: format.date(state.expectedOn) })}</p>`;

function linkOf(state: PayState, { language: { documents }, texts }: Writing): Html | false {
  if (state.kind === 'confirm') return buttonTo(state.url, texts.confirm.button);
  return (
    state.kind === 'paid' &&
    state.receiptUrl !== undefined &&
    html`<p class="account"><a href="${state.receiptUrl}">${documents.titles.receipt} (PDF)</a></p>`
  );
}

const askFor = ({ entity_name: issuer }: PayableRow, texts: PayTexts): Html =>
  html`<p class="account">${fill(texts.ask, { issuer })}</p>`;

function transferOf(
  { transfer }: Extract<PayState, { kind: 'transfer' }>,
  { page, language: { documents }, texts, format }: Writing,
): Html {
  const rows: [string, string | null][] = [
    [texts.transfer.holder, transfer.holder ?? page.payable.entity_name],
    ...transfer.numbers.map(([name, value]): [string, string] => [name, name === 'IBAN' ? grouped(value) : value]),
    [documents.reference, transfer.reference],
    [documents.amount, format.amount(transfer.remainingCents ?? page.dueCents)],
  ];
  return html`<p>${texts.transfer.text}</p>
<table class="account">${rows.map(([name, value]) => value !== null && html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`)}</table>
${transfer.url !== null && buttonTo(transfer.url, texts.opening.link)}`;
}

const formOf = (label: string): Html => html`<form method="post"><button class="button">${label}</button></form>`;

const buttonTo = (url: string, label: string): Html =>
  html`<p><a class="button" href="${url}" target="_top" rel="noopener noreferrer">${label}</a></p>`;

function invoicesOf({ page: { invoices, dueCents }, language, texts, format }: Writing): Html | false {
  const { documents } = language;
  const shown = invoices.slice(0, INVOICES_SHOWN);
  const rest = invoices.length - shown.length;
  if (invoices.length === 0) return false;
  // A day until which to pay is said only where something is left to pay.
  const until = (day: Temporal.PlainDate) =>
    dueCents > 0 && ` · ${fill(documents.payableUntil, { date: format.date(day) })}`;
  return html`<ul class="card">${shown.map(
    ({
      number,
      issuing_date,
      payment_due_date,
      total_amount_cents,
      url,
    }) => html`<li><div class="row"><div class="what"><strong>${number}</strong>
<span class="soft">${format.date(issuing_date)}${until(payment_due_date)}</span></div>
<div class="how"><span class="sum">${format.amount(total_amount_cents)}</span>${url !== undefined && html`<a href="${url}">PDF<span class="hidden"> ${number}</span></a>`}</div></div></li>
`,
  )}${rest > 0 && html`<li class="soft">${fill(texts.more, { count: String(rest) })}</li>`}</ul>`;
}
