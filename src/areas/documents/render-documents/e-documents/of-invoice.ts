import type { TaxedLine, VatCategory } from '../../../../engine/invoices/vat-breakdown.ts';
import { vatBreakdown } from '../../../../engine/invoices/vat-breakdown.ts';
import { type Cents, cents } from '../../../../engine/money/cents.ts';
import { exponentOf } from '../../../../engine/money/currency.ts';
import { type Decimal, decimal } from '../../../../engine/money/decimal.ts';
import { toMainUnit } from '../../../../engine/money/units.ts';
import { REVERSE_CHARGE } from '../../../../engine/taxes/eu/choose-eu-tax.ts';
import type { FeeRow } from '../../../invoices/fees/queries.ts';
import type { InvoiceParts } from '../../../invoices/invoices/view.ts';
import { sellerAndBuyer } from '../invoice-model.ts';
import type { Printed } from '../sql.ts';
import type { EDocument, ELine } from './ubl.ts';

const ONE = decimal(1);

/** An invoice as an electronic document: its fees are the lines, coupons and progressive credits the allowances. */
export function eInvoice(parts: InvoiceParts, printed: Printed): EDocument {
  const { invoice, fees } = parts;
  const [seller, buyer] = sellerAndBuyer(parts, printed);
  const allowanceCents = cents(invoice.coupons_amount_cents + invoice.progressive_billing_credit_amount_cents);
  return {
    kind: 'Invoice',
    typeCode: invoice.self_billed ? '389' : '380',
    number: invoice.number,
    issuedOn: invoice.issuing_date,
    dueOn: invoice.payment_due_date,
    currency: invoice.currency,
    note: printed.issuer.invoice_footer,
    orderNumber: invoice.purchase_order_number,
    correctedNumber: null,
    seller,
    buyer,
    lines: fees.map((fee) => lineOf(fee, cents(fee.amount_cents))),
    vat: vatBreakdown(
      fees.map((fee) => taxedLine(fee, cents(fee.amount_cents), fee.precise_coupons_amount_cents)),
      { allowanceCents, taxCents: cents(invoice.taxes_amount_cents) },
    ),
    totals: {
      linesCents: invoice.fees_amount_cents,
      allowanceCents,
      netCents: invoice.sub_total_excluding_taxes_amount_cents,
      taxCents: invoice.taxes_amount_cents,
      grossCents: invoice.sub_total_including_taxes_amount_cents,
      prepaidCents: invoice.credit_notes_amount_cents + invoice.prepaid_credit_amount_cents,
      payableCents: invoice.total_amount_cents,
    },
  };
}

/** A fee, or the part of it that a note gives back, as a line. */
export function lineOf(fee: FeeRow, amountCents: Cents): ELine {
  const exponent = exponentOf(fee.amount_currency);
  const amount = toMainUnit(amountCents, exponent);
  // A receiver multiplies units by price; where tiers or rounding give another amount, the line has one unit at that
  // amount.
  const isProduct = fee.units.times(fee.precise_unit_amount).toDecimalPlaces(exponent).eq(amount);
  return {
    name: fee.invoice_display_name ?? fee.item_name,
    description: fee.item_description || null,
    quantity: isProduct ? fee.units : ONE,
    unitPrice: isProduct ? fee.precise_unit_amount : amount,
    amountCents,
    category: categoryOf(fee),
    rate: fee.taxes_rate,
  };
}

export const taxedLine = (fee: FeeRow, amountCents: Cents, preciseAllowanceCents: Decimal): TaxedLine => ({
  category: categoryOf(fee),
  rate: fee.taxes_rate,
  amountCents,
  preciseAllowanceCents,
  preciseTaxCents: decimal(amountCents).minus(preciseAllowanceCents).times(fee.taxes_rate).div(100),
});

function categoryOf(fee: FeeRow): VatCategory {
  if (fee.fee_type === 'credit') return 'O';
  if (fee.taxes_rate.gt(0)) return 'S';
  return fee.applied_taxes.some(({ tax_code }) => tax_code === REVERSE_CHARGE) ? 'AE' : 'Z';
}
