import { vatBreakdown } from '../../../../engine/invoices/vat-breakdown.ts';
import { cents } from '../../../../engine/money/cents.ts';
import { decimal } from '../../../../engine/money/decimal.ts';
import type { CreditNoteRow } from '../../../credits/credit-notes/queries.ts';
import type { FeeRow } from '../../../invoices/fees/queries.ts';
import type { InvoiceParts } from '../../../invoices/invoices/view.ts';
import { sellerAndBuyer } from '../invoice-model.ts';
import type { Printed } from '../sql.ts';
import { lineOf, taxedLine } from './of-invoice.ts';
import type { EDocument } from './ubl.ts';

/** A credit note as an electronic document: what it gives back of each fee, less what coupons had taken off. */
export function eCreditNote(
  { note, invoice, fees }: { note: CreditNoteRow; invoice: InvoiceParts; fees: ReadonlyMap<string, FeeRow> },
  printed: Printed,
): EDocument {
  const [seller, buyer] = sellerAndBuyer(invoice, printed);
  const items = note.items.flatMap(({ fee_id, amount_cents }) => {
    const fee = fee_id === null ? undefined : fees.get(fee_id);
    return fee === undefined ? [] : [{ fee, amountCents: cents(amount_cents) }];
  });
  const linesCents = items.reduce((total, { amountCents }) => total + amountCents, 0);
  const allowanceCents = cents(note.coupons_adjustment_amount_cents);
  // Coupons reduced every fee of a note by the same share.
  const partTaken = linesCents === 0 ? decimal(0) : decimal(allowanceCents).div(linesCents);
  return {
    kind: 'CreditNote',
    typeCode: note.self_billed ? '261' : '381',
    number: note.number,
    issuedOn: note.issuing_date,
    dueOn: null,
    currency: note.currency,
    note: note.description,
    orderNumber: note.purchase_order_number,
    correctedNumber: note.invoice_number,
    seller,
    buyer,
    lines: items.map(({ fee, amountCents }) => lineOf(fee, amountCents)),
    vat: vatBreakdown(
      items.map(({ fee, amountCents }) => taxedLine(fee, amountCents, partTaken.times(amountCents))),
      { allowanceCents, taxCents: cents(note.taxes_amount_cents) },
    ),
    totals: {
      linesCents,
      allowanceCents,
      netCents: note.sub_total_excluding_taxes_amount_cents,
      taxCents: note.taxes_amount_cents,
      grossCents: note.total_amount_cents,
      prepaidCents: 0,
      payableCents: note.total_amount_cents,
    },
  };
}
