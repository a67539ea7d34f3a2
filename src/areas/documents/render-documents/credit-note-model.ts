import { decimal } from '../../../engine/money/decimal.ts';
import type { DocumentModel, Row, Total } from '../../../platform/documents/model.ts';
import type { FeeRow } from '../../invoices/fees/queries.ts';
import type { InvoiceParts } from '../../invoices/invoices/view.ts';
import { type Format, fill, formatOf } from '../../messaging/documents/number-and-date-formats.ts';
import type { Language } from '../../messaging/documents/texts/by-locale.ts';
import type { DocumentTexts } from '../../messaging/documents/texts/document-texts.ts';
import { paperOf, partiesOf } from './party.ts';
import type { Printed } from './printed-invoice.ts';
import { printedTaxes } from './printed-taxes.ts';
import type { StatedNote } from './rest-of-invoice.ts';

export interface CreditNoteParts {
  note: StatedNote;
  /** The invoice whose fees it gives back. */
  invoice: InvoiceParts;
  fees: ReadonlyMap<string, FeeRow>;
}

/**
 * Contents of the document of a credit note: which fees of which invoice it gives back, less their coupons, with their
 * taxes. Its parties are those of the invoice.
 *
 * Rules: credit-notes.md#parts, credit-note-amounts.md#rounding.
 */
export function creditNoteModel(
  { note, invoice, fees }: CreditNoteParts,
  printed: Printed,
  { locale, texts }: Language,
): DocumentModel {
  const format = formatOf(locale, note.currency, invoice.invoice.timezone);
  return {
    language: locale,
    title: texts.titles.creditNote,
    number: note.number,
    logo: printed.logo_url,
    paper: paperOf(invoice, printed),
    facts: [
      { label: texts.noteNumber, value: note.number },
      { label: texts.noteIssuedOn, value: format.date(note.issuing_date) },
      { label: texts.number, value: note.invoice_number },
      { label: texts.invoiceDate, value: format.date(invoice.invoice.issuing_date) },
      ...(note.purchase_order_number === null
        ? []
        : [{ label: texts.purchaseOrder, value: note.purchase_order_number }]),
      { label: texts.reason, value: texts.reasons[note.reason] },
    ],
    parties: partiesOf(invoice, printed, texts, format),
    headline: {
      text: fill(texts.amountCredited, { amount: format.amount(note.total_amount_cents) }),
      note: wayOf(note, texts, format),
    },
    columns: [
      { label: texts.item, isFigure: false },
      ...[texts.tax, texts.amount].map((label) => ({ label, isFigure: true })),
    ],
    tables: [{ title: null, rows: note.items.map((item) => rowOf(item, fees, format)) }],
    totals: totalsOf(note, texts, format),
    notes: note.description ? [{ title: null, text: note.description }] : [],
    pageLabel: texts.page,
  };
}

/** What becomes of the amount, with amounts where it goes several ways. */
function wayOf(note: StatedNote, texts: DocumentTexts, format: Format): string {
  const ways = [
    [texts.toBalance, note.credit_amount_cents],
    [texts.toRefund, note.refund_amount_cents],
    [fill(texts.toInvoice, { number: note.invoice_number }), note.offset_amount_cents],
  ] as const;
  const taken = ways.filter(([, cents]) => cents !== 0);
  if (taken.length === 1) return taken[0]![0];
  return taken.map(([way, cents]) => `${way}: ${format.amount(cents)}`).join(' · ');
}

function rowOf(item: StatedNote['items'][number], fees: ReadonlyMap<string, FeeRow>, format: Format): Row {
  const fee = fees.get(item.fee_id ?? '');
  const name = fee?.invoice_display_name ?? fee?.item_name ?? '';
  return {
    kind: 'line',
    cells: [name, fee === undefined ? '' : format.percent(fee.taxes_rate), format.amount(item.amount_cents)],
  };
}

function totalsOf(note: StatedNote, texts: DocumentTexts, format: Format): Total[] {
  const plain = (label: string, cents: number): Total => ({ label, value: format.amount(cents), kind: 'plain' });
  const items = note.sub_total_excluding_taxes_amount_cents + note.coupons_adjustment_amount_cents;
  const taxCents = printedTaxes(
    note.applied_taxes.map((tax) => ({ ...tax, baseCents: tax.base_amount_cents })),
    note.taxes_amount_cents,
  );
  const taxes = note.applied_taxes.map((tax, index) =>
    plain(
      fill(texts.taxOn, {
        name: tax.tax_name,
        rate: format.percent(decimal(tax.tax_rate).toNumber()),
        base: format.amount(tax.base_amount_cents),
      }),
      taxCents[index]!,
    ),
  );
  return [
    plain(texts.subTotal, items),
    ...(note.coupons_adjustment_amount_cents === 0
      ? []
      : [plain(texts.coupons, -note.coupons_adjustment_amount_cents)]),
    ...(taxes.length === 0 ? [plain(texts.noTax, 0)] : taxes),
    { label: texts.total, value: format.amount(note.total_amount_cents), kind: 'grand' },
  ];
}
