import { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import { type Html, html } from '../../../../platform/html.ts';
import { fill } from '../../../messaging/documents/number-and-date-formats.ts';
import type { Frame } from '../frame.ts';

/** What is shown of a preview: the fields of an invoice that stand on it. */
const Preview = z.object({
  invoice: z.object({
    currency: z.string(),
    issuing_date: z.string(),
    coupons_amount_cents: z.int(),
    taxes_amount_cents: z.int(),
    credit_notes_amount_cents: z.int(),
    prepaid_credit_amount_cents: z.int(),
    progressive_billing_credit_amount_cents: z.int(),
    total_amount_cents: z.int(),
    fees: z.array(
      z.object({
        amount_cents: z.int(),
        units: z.string(),
        item: z.object({ name: z.string().nullish(), invoice_display_name: z.string().nullish() }),
      }),
    ),
  }),
});
export type NextInvoice = z.infer<typeof Preview>['invoice'];

/** The invoice in an answer of a preview; undefined where there is none to come. */
export const nextInvoiceOf = (answer: unknown): NextInvoice | undefined => Preview.safeParse(answer).data?.invoice;

const MOST_LINES = 40;

/** The next invoice with all lines, as today's usage makes it. */
export function nextInvoiceCard(frame: Frame, invoice: NextInvoice): Html {
  const { words, documents } = frame.language;
  const format = frame.formatOf(invoice.currency);
  const fees = invoice.fees.filter(({ amount_cents, units }) => amount_cents !== 0 || Number(units) !== 0);
  const taken = [
    [documents.progressiveCredit, -invoice.progressive_billing_credit_amount_cents],
    [documents.coupons, -invoice.coupons_amount_cents],
    [documents.tax, invoice.taxes_amount_cents],
    [documents.creditNotes, -invoice.credit_notes_amount_cents],
    [documents.prepaidCredits, -invoice.prepaid_credit_amount_cents],
  ] as const;
  return html`<h2>${words.nextInvoice}</h2>
<div class="card"><div class="body"><p class="soft">${fill(words.nextInvoiceHint, { date: frame.date(Temporal.PlainDate.from(invoice.issuing_date)) })}</p>
<table><thead><tr><th scope="col">${documents.item}</th><th scope="col">${documents.units}</th><th scope="col">${documents.amount}</th></tr></thead>
<tbody>${fees
    .slice(0, MOST_LINES)
    .map(
      ({ item, units, amount_cents }) =>
        html`<tr><th scope="row">${item.invoice_display_name || item.name || ''}</th><td>${format.units(units)}</td><td>${format.amount(amount_cents)}</td></tr>\n`,
    )}${fees.length > MOST_LINES && html`<tr><th scope="row">${fill(frame.pay.more, { count: String(fees.length - MOST_LINES) })}</th><td></td><td></td></tr>`}${taken.map(
    ([name, amount]) =>
      amount !== 0 && html`<tr><th scope="row">${name}</th><td></td><td>${format.amount(amount)}</td></tr>\n`,
  )}</tbody>
<tfoot><tr><th scope="row">${documents.total}</th><td></td><td>${format.amount(invoice.total_amount_cents)}</td></tr></tfoot></table></div></div>`;
}
