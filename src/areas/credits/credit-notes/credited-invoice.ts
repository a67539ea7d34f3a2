import type { CreditedFee, EarlierTaxes } from '../../../engine/credits/credit-note-amounts.ts';
import { creditableOfInvoice, feesWithTaxes, type NotedInvoice } from '../../../engine/credits/credit-note-limits.ts';
import { type Cents, cents } from '../../../engine/money/cents.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CreditNoteId } from '../../../platform/ids.ts';
import { type FeeRow, listFeesOfInvoice } from '../../invoices/fees/queries.ts';
import type { InvoiceRow } from '../../invoices/invoices/queries.ts';
import { type NotedSums, sumNotes } from './queries.ts';
import { readRefundStep } from './refunds.ts';
import { findTopUp, type TopUp } from './top-up-note.ts';

/** An invoice with its fees, and what its notes gave back so far. */
export interface CreditedInvoice {
  invoice: InvoiceRow;
  fees: readonly FeeRow[];
  noted: NotedInvoice;
  earlierTaxes: readonly EarlierTaxes[];
  /** What it billed and its notes have not given back. */
  left: { netCents: Cents; taxesCents: Cents };
  /** In cents, by fee; a fee that is missing was not credited. */
  creditedOf: ReadonlyMap<string, number>;
  /** Set for a top-up invoice while its wallet may be used. */
  topUp: TopUp | undefined;
}

/** Reads what limits a note of an invoice, without the note that is computed again. */
export async function readCreditedInvoice(
  ctx: Scope,
  invoice: InvoiceRow,
  exceptNoteId: CreditNoteId | null = null,
): Promise<CreditedInvoice> {
  const fees = await listFeesOfInvoice(ctx, invoice.id);
  const sums = await sumNotes(ctx, invoice.id, exceptNoteId);
  const refundStepCents = await readRefundStep(ctx, invoice);
  return {
    invoice,
    fees,
    noted: notedInvoice(invoice, sums, refundStepCents),
    earlierTaxes: sums.taxes.map((note) => ({
      taxesAmountCents: note.taxes_amount_cents,
      preciseTaxesAmountCents: decimal(note.precise_taxes_amount_cents),
    })),
    left: {
      netCents: cents(invoice.sub_total_excluding_taxes_amount_cents - sums.sub_total_cents),
      taxesCents: cents(invoice.taxes_amount_cents - sums.taxes_cents),
    },
    topUp: invoice.invoice_type === 'credit' ? await findTopUp(ctx, invoice.id) : undefined,
    creditedOf: new Map(sums.fees.map(({ fee_id, credited_cents }) => [fee_id, credited_cents])),
  };
}

const notedInvoice = (invoice: InvoiceRow, sums: NotedSums, refundStepCents: number): NotedInvoice => ({
  refundStepCents,
  isDraft: invoice.status === 'draft',
  isVoided: invoice.status === 'voided',
  isTopUp: invoice.invoice_type === 'credit',
  paymentStatus: invoice.payment_status,
  totalCents: invoice.total_amount_cents,
  totalPaidCents: invoice.total_paid_amount_cents,
  writtenOffCents: invoice.total_written_off_amount_cents,
  billedCents: invoice.sub_total_including_taxes_amount_cents,
  noted: {
    creditCents: cents(sums.credit_cents),
    refundCents: cents(sums.refund_cents),
    offsetCents: cents(sums.offset_cents),
  },
});

/**
 * What of a fee was not credited yet; of a top-up whose credits were given, no more than the wallet still holds.
 * Rule: credit-note-amounts.md#what-is-left.
 */
export function creditableOfFee(credited: CreditedInvoice, fee: FeeRow): Cents {
  const left = uncreditedOfFee(credited, fee);
  const isGiven = credited.invoice.payment_status === 'succeeded' || credited.topUp?.purchase.status === 'settled';
  return credited.topUp !== undefined && isGiven ? cents(Math.min(left, credited.topUp.heldCents)) : left;
}

export const uncreditedOfFee = ({ creditedOf }: CreditedInvoice, fee: FeeRow): Cents =>
  cents(Math.max(fee.amount_cents - (creditedOf.get(fee.id) ?? 0), 0));

/** What may still be credited of an invoice, taxes included. Rule: credit-note-amounts.md#what-is-left. */
export const creditableOf = (credited: CreditedInvoice): Cents =>
  creditableOfInvoice(
    credited.noted,
    credited.fees.map((fee) => creditableOfFee(credited, fee)),
  );

export const feesWithTaxesOf = ({ fees }: CreditedInvoice): Cents =>
  feesWithTaxes(fees.map((fee) => ({ amountCents: fee.amount_cents, taxesRate: fee.taxes_rate })));

/** A fee as the rules of notes see it. */
export const creditedFee = (fee: FeeRow): CreditedFee => ({
  amountCents: cents(fee.amount_cents),
  preciseCouponsAmountCents: fee.precise_coupons_amount_cents,
  untaxedAmountCents: fee.untaxed_amount_cents,
  taxes: fee.applied_taxes.map((tax) => ({
    id: tax.tax_id,
    code: tax.tax_code,
    name: tax.tax_name,
    description: tax.tax_description,
    rate: tax.tax_rate,
    ...(tax.base_rate === null ? {} : { baseRate: decimal(tax.base_rate) }),
  })),
});
