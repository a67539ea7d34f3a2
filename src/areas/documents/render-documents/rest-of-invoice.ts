import { localDate } from '../../../engine/calendar/local-day.ts';
import { roundToCents } from '../../../engine/money/cents.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import type {
  CreditNoteItemJson,
  CreditNoteRow,
  CreditNoteTaxJson,
  NotedSums,
} from '../../credits/credit-notes/queries.ts';
import type { InvoiceParts } from '../../invoices/invoices/view.ts';

/** What documents state of a credit note. */
export interface StatedNote
  extends Pick<
    CreditNoteRow,
    | 'number'
    | 'invoice_number'
    | 'issuing_date'
    | 'currency'
    | 'description'
    | 'purchase_order_number'
    | 'self_billed'
    | 'coupons_adjustment_amount_cents'
    | 'sub_total_excluding_taxes_amount_cents'
    | 'taxes_amount_cents'
    | 'total_amount_cents'
  > {
  items: readonly Pick<CreditNoteItemJson, 'fee_id' | 'amount_cents'>[];
  applied_taxes: readonly Pick<CreditNoteTaxJson, 'tax_name' | 'tax_rate' | 'base_amount_cents' | 'amount_cents'>[];
}

/** Ends the number of a document that cancels the invoice before it. */
const CANCELLATION = '-V';

/**
 * What is left of a voided invoice after its notes, as the note that cancels it: a receiver cannot unread the invoice.
 * Without lines nothing is left.
 *
 *   invoice 200.00 + 38.00, a note over 10.00 + 1.90 → 190.00 + 36.10
 *
 * Rule: e-documents.md#cancellations.
 */
export function restOfInvoice({ invoice, fees }: InvoiceParts, noted: NotedSums): StatedNote {
  const credited = new Map(noted.fees.map(({ fee_id, credited_cents }) => [fee_id, credited_cents]));
  const items = fees
    .map(({ id, amount_cents }) => ({ fee_id: id, amount_cents: amount_cents - (credited.get(id) ?? 0) }))
    .filter(({ amount_cents }) => amount_cents !== 0);
  const linesCents = items.reduce((total, { amount_cents }) => total + amount_cents, 0);
  const netCents = invoice.sub_total_excluding_taxes_amount_cents - noted.sub_total_cents;
  const taxesCents = invoice.taxes_amount_cents - noted.taxes_cents;
  const isWhole = noted.sub_total_cents === 0 && noted.taxes_cents === 0;
  const share = (cents: number, rest: number, whole: number) =>
    isWhole || whole === 0 ? cents : roundToCents(decimal(cents).times(rest).div(whole));
  return {
    number: `${invoice.number}${CANCELLATION}`,
    invoice_number: invoice.number,
    issuing_date: localDate(invoice.voided_at ?? invoice.updated_at, invoice.timezone),
    currency: invoice.currency,
    description: null,
    purchase_order_number: invoice.purchase_order_number,
    self_billed: invoice.self_billed,
    items,
    coupons_adjustment_amount_cents: linesCents - netCents,
    sub_total_excluding_taxes_amount_cents: netCents,
    taxes_amount_cents: taxesCents,
    total_amount_cents: netCents + taxesCents,
    applied_taxes: invoice.applied_taxes.map(({ tax_name, tax_rate, fees_amount_cents, amount_cents }) => ({
      tax_name,
      tax_rate,
      base_amount_cents: share(fees_amount_cents, netCents, invoice.sub_total_excluding_taxes_amount_cents),
      amount_cents: share(amount_cents, taxesCents, invoice.taxes_amount_cents),
    })),
  };
}
