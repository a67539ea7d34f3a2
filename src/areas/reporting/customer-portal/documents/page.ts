import { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../../platform/context.ts';
import { type Html, html } from '../../../../platform/html.ts';
import { addressOf, type Frame, framed } from '../frame.ts';
import { headOf, nothing, waysOf } from '../parts.ts';
import {
  INVOICE_STATES,
  listPortalCreditNotes,
  listPortalInvoices,
  listPortalReceipts,
  type Wanted,
} from '../queries.ts';
import { type List, listOf, pageIn } from '../reads.ts';
import { invoiceTable } from './invoices.ts';
import { noteTable, receiptTable } from './notes-and-receipts.ts';

/** The lists of documents, by what stands in their address. */
export const DOCUMENT_LISTS = ['invoices', 'credit_notes', 'receipts'] as const;
export type DocumentList = (typeof DOCUMENT_LISTS)[number];

/** How many years back the filter offers. */
const YEARS = 10;

/** A list of documents, filtered by year and state: one statement. */
export async function documentsPage(
  ctx: Context,
  frame: Frame,
  { list, query, said }: { list: DocumentList; query: URLSearchParams; said?: Html },
): Promise<string> {
  const wanted = wantedOf(query, list);
  const title = titleOf(frame, list);
  const { found, table } = await tableOf(ctx, frame, { list, wanted, page: pageIn(query) });
  const kept = {
    ...(wanted.year === undefined ? {} : { year: String(wanted.year) }),
    ...(wanted.state === undefined ? {} : { state: wanted.state }),
  };
  const isFiltered = Object.keys(kept).length > 0;
  const { words } = frame.language;
  return framed(
    frame,
    title,
    html`${headOf(frame, title)}
${said}${tabsOf(frame, list)}
${filterOf(frame, list, wanted)}
${found.rows.length > 0 ? table : nothing(isFiltered ? words.noneOfThese : words.nothing)}
${waysOf(frame, found, kept)}`,
  );
}

const titleOf = ({ language: { words, documents } }: Frame, list: DocumentList): string =>
  ({ invoices: words.invoices, credit_notes: documents.creditNotes, receipts: words.receipts })[list];

async function tableOf(
  ctx: Context,
  frame: Frame,
  { list, wanted, page }: { list: DocumentList; wanted: Wanted; page: number },
): Promise<{ found: List<unknown>; table: Html }> {
  const { customer } = frame;
  if (list === 'invoices') {
    const found = await listOf(page, (slice) => listPortalInvoices(ctx, customer.id, slice, wanted));
    return { found, table: invoiceTable(frame, found.rows) };
  }
  if (list === 'credit_notes') {
    const found = await listOf(page, (slice) => listPortalCreditNotes(ctx, customer.id, slice, wanted.year));
    return { found, table: noteTable(frame, found.rows) };
  }
  const asked = { year: wanted.year, zone: customer.zone };
  const found = await listOf(page, (slice) => listPortalReceipts(ctx, customer.id, slice, asked));
  return { found, table: receiptTable(frame, found.rows) };
}

/** Filters that a query names; unknown ones are none. */
function wantedOf(query: URLSearchParams, list: DocumentList): Wanted {
  const year = query.get('year') ?? '';
  const state = query.get('state') ?? '';
  return {
    year: /^(19|20)\d\d$/.test(year) ? Number(year) : undefined,
    state: list === 'invoices' && (INVOICE_STATES as readonly string[]).includes(state) ? state : undefined,
  };
}

const tabsOf = (frame: Frame, here: DocumentList): Html =>
  html`<nav class="tabs" aria-label="${frame.language.words.documents}">${DOCUMENT_LISTS.map(
    (list) =>
      html`<a href="${addressOf(frame, list)}"${list === here && { html: ' aria-current="page"' }}>${titleOf(frame, list)}</a>`,
  )}</nav>`;

function filterOf(frame: Frame, list: DocumentList, wanted: Wanted): Html {
  const { words } = frame.language;
  const thisYear = frame.now.toZonedDateTimeISO(frame.customer.zone).year;
  const years = Array.from({ length: YEARS }, (_, n) => String(thisYear - n));
  const option = (value: string, name: string, chosen: string | undefined) =>
    html`<option value="${value}"${value === (chosen ?? '') && { html: ' selected' }}>${name}</option>`;
  const yearText = (year: string) =>
    Temporal.PlainDate.from(`${year}-01-01`).toLocaleString(frame.language.locale, { year: 'numeric' });
  const hidden = [...new URL(addressOf(frame, list), 'http://portal').searchParams].map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`<form class="filter" method="get" action="${addressOf(frame, list).split('?')[0]!}">${hidden}
<label>${words.year}<select name="year">${option('', words.all, wanted.year?.toString())}${years.map((year) => option(year, yearText(year), wanted.year?.toString()))}</select></label>
${list === 'invoices' && html`<label>${words.state}<select name="state">${option('', words.all, wanted.state)}${INVOICE_STATES.map((state) => option(state, words.payment[state], wanted.state))}</select></label>`}
<button class="button second">${words.filter}</button></form>`;
}
