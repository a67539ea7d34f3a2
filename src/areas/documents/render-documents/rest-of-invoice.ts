import { localDate } from '../../../engine/calendar/local-day.ts';
import { greatestOf, isRounding } from '../../../engine/e-documents/amounts.ts';
import { type VatShare, vatBreakdown } from '../../../engine/invoices/vat-breakdown.ts';
import { allocate } from '../../../engine/money/allocate.ts';
import { cents, roundToCents } from '../../../engine/money/cents.ts';
import { decimal, sum } from '../../../engine/money/decimal.ts';
import type { FeeId } from '../../../platform/ids.ts';
import type {
  CreditNoteItemJson,
  CreditNoteRow,
  CreditNoteTaxJson,
  NotedSums,
} from '../../credits/credit-notes/queries.ts';
import type { FeeRow } from '../../invoices/fees/queries.ts';
import type { InvoiceParts } from '../../invoices/invoices/view.ts';
import { partOfFee, type StatedFee } from './e-documents/fee-lines.ts';

/** What documents state of a credit note. */
export interface StatedNote
  extends Pick<
    CreditNoteRow,
    | 'number'
    | 'invoice_number'
    | 'issuing_date'
    | 'currency'
    | 'reason'
    | 'description'
    | 'purchase_order_number'
    | 'self_billed'
    | 'coupons_adjustment_amount_cents'
    | 'sub_total_excluding_taxes_amount_cents'
    | 'taxes_amount_cents'
    | 'total_amount_cents'
    | 'credit_amount_cents'
    | 'refund_amount_cents'
    | 'offset_amount_cents'
  > {
  items: readonly Pick<CreditNoteItemJson, 'fee_id' | 'amount_cents'>[];
  applied_taxes: readonly StatedTax[];
}

type StatedTax = Pick<CreditNoteTaxJson, 'tax_name' | 'tax_rate' | 'base_amount_cents' | 'amount_cents'>;

/** What notes gave back of an invoice. */
export type GivenBack = Pick<NotedSums, 'fees' | 'sub_total_cents' | 'taxes_cents'>;

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
export function restOfInvoice({ invoice, fees }: InvoiceParts, noted: GivenBack): StatedNote {
  const credited = new Map(noted.fees.map(({ fee_id, credited_cents }) => [fee_id, credited_cents]));
  const items = fees
    .map(({ id, amount_cents }) => ({ fee_id: id, amount_cents: amount_cents - (credited.get(id) ?? 0) }))
    .filter(({ amount_cents }) => amount_cents !== 0);
  const lines = linesOf(fees, items);
  const netCents = invoice.sub_total_excluding_taxes_amount_cents - noted.sub_total_cents;
  const taxesCents = invoice.taxes_amount_cents - noted.taxes_cents;
  const couponsCents = couponsOf(lines, netCents);
  const isWhole = noted.sub_total_cents === 0 && noted.taxes_cents === 0;
  return {
    number: `${invoice.number}${CANCELLATION}`,
    invoice_number: invoice.number,
    issuing_date: localDate(invoice.voided_at ?? invoice.updated_at, invoice.timezone),
    currency: invoice.currency,
    reason: 'order_cancellation',
    description: null,
    purchase_order_number: invoice.purchase_order_number,
    self_billed: invoice.self_billed,
    items,
    coupons_adjustment_amount_cents: couponsCents,
    sub_total_excluding_taxes_amount_cents: netCents,
    taxes_amount_cents: taxesCents,
    total_amount_cents: netCents + taxesCents,
    credit_amount_cents: 0,
    refund_amount_cents: 0,
    offset_amount_cents: netCents + taxesCents,
    applied_taxes: isWhole ? taxesOfInvoice(invoice) : taxesOfLines(lines, { couponsCents, netCents, taxesCents }),
  };
}

const taxesOfInvoice = ({ applied_taxes }: InvoiceParts['invoice']): StatedTax[] =>
  applied_taxes.map(({ tax_name, tax_rate, fees_amount_cents, amount_cents }) => ({
    tax_name,
    tax_rate,
    base_amount_cents: fees_amount_cents,
    amount_cents,
  }));

/** What is left of each fee, as a line. */
function linesOf(fees: readonly FeeRow[], items: readonly { fee_id: FeeId; amount_cents: number }[]) {
  const left = new Map(items.map(({ fee_id, amount_cents }) => [fee_id, amount_cents]));
  return fees.filter(({ id }) => left.has(id)).map((fee) => lineOf(fee, partOfFee(fee, decimal(left.get(fee.id)!))));
}

/**
 * What coupons had taken off the lines that are left. The cents by which lines, coupons and net total then differ are
 * rounding and named so; where notes gave back more or less of a coupon than their share, the difference is stated.
 *
 *   lines 5.01 without coupons, net total 5.00 → 0, and rounding of 0.01
 */
function couponsOf(lines: readonly RestLine[], netCents: number): number {
  const differenceCents = totalOf(lines) - netCents;
  const couponsCents = roundToCents(sum(lines.map((line) => line.preciseAllowanceCents)));
  return isRounding(differenceCents - couponsCents, lines.length) ? couponsCents : differenceCents;
}

const totalOf = (lines: readonly RestLine[]): number => lines.reduce((total, line) => total + line.amountCents, 0);

/**
 * Taxes of what is left of some fees, by the breakdown that the XML of the same document states, so that its page never
 * says otherwise. Where several taxes make one rate of the XML, each has its part of it.
 *
 *   100.00 at 19 % given back, 100.00 at 7 % left → 7 % on 100.00: 7.00
 */
function taxesOfLines(
  lines: readonly RestLine[],
  { couponsCents, netCents, taxesCents }: { couponsCents: number; netCents: number; taxesCents: number },
): StatedTax[] {
  if (lines.length === 0) return [];
  const shares = vatBreakdown(lines, { allowanceCents: cents(couponsCents), taxCents: cents(taxesCents) });
  const offCents = totalOf(lines) - couponsCents - netCents;
  const greatest = greatestOf(shares);
  const rows = shares.map((row) => (row === greatest ? { ...row, netCents: cents(row.netCents - offCents) } : row));
  const stated = new Map<string, StatedTax>();
  for (const row of rows) {
    const ofRow = lines.filter(({ category, rate }) => category === row.category && rate.eq(row.rate));
    for (const [key, tax] of taxesOfRow(row, ofRow)) {
      const before = stated.get(key);
      const base = (before?.base_amount_cents ?? 0) + tax.base_amount_cents;
      stated.set(key, {
        ...tax,
        base_amount_cents: base,
        amount_cents: (before?.amount_cents ?? 0) + tax.amount_cents,
      });
    }
  }
  return [...stated.values()];
}

type RestLine = ReturnType<typeof lineOf>;

const lineOf = (fee: FeeRow, { amountCents, preciseAllowanceCents, preciseTaxedCents }: StatedFee) => ({
  fee,
  category: fee.taxes_rate.gt(0) ? ('S' as const) : ('Z' as const),
  rate: fee.taxes_rate,
  amountCents,
  preciseAllowanceCents,
  preciseTaxedCents,
  preciseTaxCents: preciseTaxedCents.times(fee.taxes_rate).div(100),
});

/** Net amount and tax of a row of one rate, split over the fees of the row and then over the taxes of each. */
function taxesOfRow({ netCents, taxCents }: VatShare, lines: readonly RestLine[]) {
  const nets = allocate(
    netCents,
    lines.map((line) => line.preciseTaxedCents),
  );
  const parts = lines.flatMap(({ fee, preciseTaxedCents }, index) =>
    fee.applied_taxes.map((tax) => {
      const share = tax.base_rate ?? 1;
      return {
        tax,
        baseCents: roundToCents(decimal(nets[index]!).times(share)),
        weight: preciseTaxedCents.times(share),
      };
    }),
  );
  const amounts = allocate(
    parts.length === 0 ? cents(0) : taxCents,
    parts.map(({ tax, weight }) => weight.times(tax.tax_rate)),
  );
  return parts.map(({ tax: { tax_code, tax_name, tax_rate }, baseCents }, index): [string, StatedTax] => [
    `${tax_code} ${tax_rate}`,
    { tax_name, tax_rate, base_amount_cents: baseCents, amount_cents: amounts[index]! },
  ]);
}
