import { offsettableOfInvoice, refundableOfNote } from '../../../../engine/credits/credit-note-limits.ts';
import { roundToCents } from '../../../../engine/money/cents.ts';
import { decimal } from '../../../../engine/money/decimal.ts';
import type { Context } from '../../../../platform/context.ts';
import { present } from '../../../../platform/schema/view.ts';
import { creditableOf } from '../credited-invoice.ts';
import { amountsOf } from '../make-note.ts';
import type { CreditNoteEstimate } from '../schema.ts';
import { rateOf } from '../view.ts';
import { invoiceToCredit, readItems } from './items.ts';

/**
 * The amounts of a note with these items and the maximum of each part. Stores nothing.
 *
 * @throws Refusal 404 invoice, fee; 405 invalid_type_or_status; 422 items, amount_cents
 * Rule: credit-note-amounts.md#what-is-left "estimate".
 */
export async function estimateCreditNote(ctx: Context, { body }: { body: CreditNoteEstimate }) {
  const credited = await invoiceToCredit(ctx, body.invoice_id, { isOffset: false });
  const { invoice, noted } = credited;
  const items = readItems(credited, body.items);
  const amounts = amountsOf(credited, items);
  const ofInvoice = creditableOf(credited);

  const exact = roundToCents(amounts.preciseTotalAmountCents);
  const excess = exact - amounts.taxesAmountCents - amounts.subTotalExcludingTaxesAmountCents;
  const creditable = exact - Math.sign(Math.max(excess, 0));
  const taxes = amounts.taxesAmountCents - Math.sign(Math.max(-excess, 0));
  return {
    estimated_credit_note: {
      svc_invoice_id: invoice.id,
      invoice_number: invoice.number,
      currency: invoice.currency,
      taxes_amount_cents: taxes,
      precise_taxes_amount_cents: amounts.preciseTaxesAmountCents.toNumber(),
      taxes_rate: rateOf(amounts.taxesRate),
      sub_total_excluding_taxes_amount_cents: amounts.subTotalExcludingTaxesAmountCents,
      max_creditable_amount_cents: noted.isTopUp ? 0 : creditable,
      max_refundable_amount_cents: refundableOfNote(noted, ofInvoice, creditable),
      max_offsettable_amount_cents: Math.min(creditable, offsettableOfInvoice(noted, ofInvoice)),
      coupons_adjustment_amount_cents: amounts.couponsAdjustmentAmountCents,
      precise_coupons_adjustment_amount_cents: amounts.preciseCouponsAdjustmentAmountCents.toNumber(),
      items: items.map(({ fee, preciseAmountCents }) => ({
        svc_fee_id: fee.id,
        amount_cents: roundToCents(preciseAmountCents),
      })),
      applied_taxes: amounts.appliedTaxes.map(({ tax, baseAmountCents, amountCents }) => ({
        svc_tax_id: tax.id,
        tax_name: tax.name,
        tax_code: tax.code,
        tax_rate: decimal(tax.rate).toNumber(),
        ...present({ tax_description: tax.description }),
        base_amount_cents: baseAmountCents,
        amount_cents: amountCents,
        amount_currency: invoice.currency,
      })),
    },
  };
}
