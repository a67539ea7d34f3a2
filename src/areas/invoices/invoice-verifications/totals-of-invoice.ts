import { addCents, type Cents, cents, subtractCents, sumCents } from '../../../engine/money/cents.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import { collectedInvoiceTaxes } from '../../../engine/taxes/provider/collect-taxes.ts';
import type { Tax } from '../../../engine/taxes/tax.ts';
import type { AppliedFeeTax } from '../../../engine/taxes/tax-fee.ts';
import { taxInvoice } from '../../../engine/taxes/tax-invoice.ts';
import type { InvoiceRow } from '../invoices/queries.ts';
import type { InvoiceInputs } from './queries.ts';

export interface TotalledFee {
  amountCents: Cents;
  preciseAmountCents: Decimal;
  preciseCouponsAmountCents: Decimal;
  taxesAmountCents: Cents;
  taxes: readonly Tax[];
  /** Amounts that a tax engine collects, in place of `taxes`. */
  collected?: readonly AppliedFeeTax[];
}

/** Totals of an invoice by the names of its columns. */
export type Totals = Pick<
  InvoiceRow,
  | 'fees_amount_cents'
  | 'progressive_billing_credit_amount_cents'
  | 'coupons_amount_cents'
  | 'sub_total_excluding_taxes_amount_cents'
  | 'taxes_amount_cents'
  | 'sub_total_including_taxes_amount_cents'
  | 'credit_notes_amount_cents'
  | 'prepaid_credit_amount_cents'
  | 'total_amount_cents'
>;

/**
 * The steps of a whole invoice over its fees, with the credits of the stored inputs. Gathered paid fees keep the taxes
 * with which they were paid.
 *
 * Rules: invoice-amounts.md#steps-by-invoice-type, taxes.md#computation, taxes.md#gathered-paid-fees,
 * tax-engines.md#what-the-answer-becomes.
 */
export function totalsOf(
  invoiceType: string,
  fees: readonly TotalledFee[],
  inputs: InvoiceInputs,
): { totals: Totals; taxes: Map<string, Cents> } {
  const feesCents = sumCents(fees.map(({ amountCents }) => amountCents));
  const progressive = cents(inputs.progressive_billing_credit_amount_cents);
  const coupons = sumCents(inputs.coupons.map(({ amount_cents }) => cents(amount_cents)));
  const before = subtractCents(feesCents, addCents(progressive, coupons));
  const taxed = fees.some(({ collected }) => collected !== undefined)
    ? collectedInvoiceTaxes(
        fees.map((fee) => ({ ...fee, appliedTaxes: fee.collected ?? [] })),
        before,
      )
    : taxInvoice(fees, before);
  const taxes =
    invoiceType === 'advance_charges'
      ? sumCents(fees.map(({ taxesAmountCents }) => taxesAmountCents))
      : taxed.taxesAmountCents;
  const after = addCents(before, taxes);
  const notes = cents(inputs.credit_notes_amount_cents);
  const prepaid = cents(inputs.prepaid_credit_amount_cents);
  return {
    totals: {
      fees_amount_cents: feesCents,
      progressive_billing_credit_amount_cents: progressive,
      coupons_amount_cents: coupons,
      sub_total_excluding_taxes_amount_cents: before,
      taxes_amount_cents: taxes,
      sub_total_including_taxes_amount_cents: after,
      credit_notes_amount_cents: notes,
      prepaid_credit_amount_cents: prepaid,
      total_amount_cents: subtractCents(after, addCents(notes, prepaid)),
    },
    taxes: new Map(taxed.appliedTaxes.map(({ tax, amountCents }) => [tax.code, amountCents])),
  };
}
