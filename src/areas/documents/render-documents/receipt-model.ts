import type { Currency } from '../../../engine/money/currency.ts';
import type { DocumentModel, Row } from '../../../platform/documents/model.ts';
import { methodName } from '../../customers/payment-methods/method-name.ts';
import type { MethodRow } from '../../customers/payment-methods/queries.ts';
import type { InvoiceParts } from '../../invoices/invoices/view.ts';
import { type Format, fill, formatOf } from '../../messaging/documents/number-and-date-formats.ts';
import type { Language } from '../../messaging/documents/texts/by-locale.ts';
import type { DocumentTexts } from '../../messaging/documents/texts/document-texts.ts';
import type { ReceiptRow } from '../../payments/payment-receipts/queries.ts';
import type { PaymentRow, ShareRow } from '../../payments/payments/queries.ts';
import { paperOf, partiesOf } from './party.ts';
import type { Printed } from './printed-invoice.ts';

export interface ReceiptParts {
  receipt: ReceiptRow;
  payment: PaymentRow;
  /** That its provider charged. */
  method: Pick<MethodRow, 'method_type' | 'details'> | null;
  shares: readonly ShareRow[];
  /** The first of its invoices, whose parties are those of the receipt. */
  invoice: InvoiceParts;
}

/**
 * Contents of the document of a receipt: who paid how much and when, and which invoices it settled.
 *
 * Rule: payments.md#receipts.
 */
export function receiptModel(
  { receipt, payment, method, shares, invoice }: ReceiptParts,
  printed: Printed,
  { locale, texts }: Language,
): DocumentModel {
  const zone = invoice.invoice.timezone;
  const format = formatOf(locale, payment.amount_currency as Currency, zone);
  const means = meansOf(payment, method, texts);
  const paidOn = format.date(payment.created_at.toZonedDateTimeISO(zone).toPlainDate());
  const settled = shares.reduce((total, { amount_cents }) => total + amount_cents, 0);
  const rest = payment.amount_cents - settled;
  return {
    language: locale,
    title: texts.titles.receipt,
    number: receipt.number,
    logo: printed.logo_url,
    paper: paperOf(invoice, printed),
    facts: [
      { label: texts.titles.receipt, value: receipt.number },
      { label: texts.paidOn, value: paidOn },
      ...(means === null ? [] : [{ label: texts.paidWith, value: means }]),
      ...(payment.reference === null ? [] : [{ label: texts.reference, value: payment.reference }]),
    ],
    parties: partiesOf(invoice, printed, texts, format),
    headline: {
      text: fill(texts.amountPaid, { amount: format.amount(payment.amount_cents) }),
      note: `${texts.paidOn} ${paidOn}`,
    },
    columns: [
      { label: texts.number, isFigure: false },
      ...[texts.invoiceDate, texts.total, texts.amount].map((label) => ({ label, isFigure: true })),
    ],
    tables: [
      {
        title: null,
        rows: [
          ...shares.map((share) => rowOf(share, format)),
          ...(rest === 0 ? [] : [{ kind: 'line', cells: [texts.unapplied, '', '', format.amount(rest)] } as const]),
        ],
      },
    ],
    totals: [{ label: texts.total, value: format.amount(payment.amount_cents), kind: 'grand' }],
    notes: [],
    pageLabel: texts.page,
  };
}

/** What people recognise: Visa •••• 4242; the provider's own numbers mean nothing to them. */
function meansOf(payment: PaymentRow, method: ReceiptParts['method'], texts: DocumentTexts): string | null {
  if (method !== null) return methodName(method, texts);
  return payment.is_transfer ? texts.transfer : null;
}

const rowOf = (share: ShareRow, format: Format): Row => ({
  kind: 'line',
  cells: [
    share.invoice_number,
    format.date(share.issuing_date),
    format.amount(share.total_amount_cents),
    format.amount(share.amount_cents),
  ],
});
