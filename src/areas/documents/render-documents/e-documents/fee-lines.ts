import { Temporal } from 'temporal-polyfill';
import { localDate } from '../../../../engine/calendar/local-day.ts';
import type { AmountLine } from '../../../../engine/e-documents/amounts.ts';
import type { DayRange, LineFacts } from '../../../../engine/e-documents/facts.ts';
import { type VatTreatment, VOUCHER, vatTreatment } from '../../../../engine/e-documents/vat-category.ts';
import { type Cents, roundToCents } from '../../../../engine/money/cents.ts';
import { exponentOf } from '../../../../engine/money/currency.ts';
import { type Decimal, decimal, max, sum, ZERO } from '../../../../engine/money/decimal.ts';
import { toMainUnit } from '../../../../engine/money/units.ts';
import { REVERSE_CHARGE } from '../../../../engine/taxes/eu/choose-eu-tax.ts';
import type { FeeRow } from '../../../invoices/fees/queries.ts';
import type { DocumentSources } from './stated-records.ts';

/** A fee, or the part of it that a note gives back. */
export interface StatedFee {
  fee: FeeRow;
  amountCents: Cents;
  /** What coupons and progressive credits took off what was billed of it. */
  preciseAllowanceCents: Decimal;
  /** How much of that progressive invoices billed before; none where absent. */
  preciseAlreadyInvoicedCents?: Decimal;
  preciseTaxedCents: Decimal;
}

/** How the lines of a document are stated. */
export interface Statement {
  sources: DocumentSources;
  /** Nobody chose a profile: categories as they always were, and no periods. */
  isPlain: boolean;
  zone: string;
  sellerHasVatNumber: boolean;
  exemptionText: string | null;
}

/** UN/ECE recommendation 20: one. */
const ONE_UNIT = 'C62';
/** A receiver multiplies quantity and price; less than this many main units is rounding of the currency. */
const PRODUCT_TOLERANCE = '0.01';
const ONE = decimal(1);

/** A line with the amounts from which the totals follow. */
export function statedLine(stated: StatedFee, statement: Statement): { line: LineFacts; amounts: AmountLine } {
  const { fee, amountCents, preciseAllowanceCents, preciseAlreadyInvoicedCents = ZERO, preciseTaxedCents } = stated;
  const treatment = treatmentOf(fee, statement);
  const rate = treatment.category === 'S' ? fee.taxes_rate : decimal(0);
  return {
    line: {
      name: (fee.invoice_display_name || fee.item_name || fee.item_code).trim(),
      description: fee.item_description?.trim() || null,
      ...quantityAndPrice(fee, amountCents),
      unit: statement.sources.units.get(fee.item_id) ?? ONE_UNIT,
      amountCents,
      category: treatment.category,
      rate,
      period: statement.isPlain ? null : periodOf(fee, statement.zone),
    },
    amounts: {
      category: treatment.category,
      rate,
      amountCents,
      preciseAllowanceCents,
      preciseAlreadyInvoicedCents,
      preciseTaxCents: preciseTaxedCents.times(rate).div(100),
      treatment,
    },
  };
}

/**
 * Units and price where a receiver's product of both is the amount; else, as with tiers or rounding, one unit at the
 * amount. No price is negative: what is given back has a negative quantity.
 */
function quantityAndPrice(fee: FeeRow, amountCents: Cents): Pick<LineFacts, 'quantity' | 'price'> {
  const amount = toMainUnit(amountCents, exponentOf(fee.amount_currency));
  const off = fee.units.times(fee.precise_unit_amount).minus(amount).abs();
  const isProduct = off.lt(PRODUCT_TOLERANCE) && !fee.precise_unit_amount.isNegative();
  if (isProduct) return { quantity: fee.units, price: fee.precise_unit_amount };
  return { quantity: amount.isNegative() ? ONE.negated() : ONE, price: amount.abs() };
}

function treatmentOf(fee: FeeRow, { sources, isPlain, sellerHasVatNumber, exemptionText }: Statement): VatTreatment {
  if (fee.fee_type === 'credit') return VOUCHER;
  if (isPlain) return plainTreatment(fee);
  const taxes = fee.applied_taxes.map(({ tax_code, tax_id, tax_rate }) => {
    const said = tax_id === null ? undefined : sources.taxes.get(tax_id);
    return {
      tax_code,
      rate: decimal(tax_rate),
      vat_category: said?.vat_category ?? null,
      exemption_code: said?.exemption_code ?? null,
      exemption_text: said?.exemption_text ?? null,
      isOfEngine: tax_id === null,
    };
  });
  return vatTreatment(taxes, { sellerHasVatNumber, exemptionText });
}

/** As documents were before sellers could say more: whatever bears no tax is zero rated. */
function plainTreatment(fee: FeeRow): VatTreatment {
  const of = (category: VatTreatment['category'], exemptionText: string | null = null): VatTreatment => ({
    category,
    exemptionCode: null,
    exemptionText,
  });
  if (fee.taxes_rate.gt(0)) return of('S');
  const isReverse = fee.applied_taxes.some(({ tax_code }) => tax_code === REVERSE_CHARGE);
  return isReverse ? of('AE', 'Reverse charge') : of('Z');
}

function periodOf({ from_datetime: from, to_datetime: to }: FeeRow, zone: string): DayRange | null {
  if (from === null || to === null) return null;
  const last = Temporal.Instant.compare(to, from) > 0 ? to.subtract({ microseconds: 1 }) : from;
  return { from: localDate(from, zone), to: localDate(last, zone) };
}

/** Whether a fee bears a tax that its seller marked as none of value added tax. */
export const bearsOtherTax = (fees: readonly FeeRow[], { taxes }: DocumentSources): boolean =>
  fees.some((fee) => fee.applied_taxes.some(({ tax_id }) => tax_id !== null && taxes.get(tax_id)?.not_vat));

/** A fee that its invoice bills whole. */
export const wholeFee = (fee: FeeRow): StatedFee => ({
  ...partOfFee(fee, decimal(fee.amount_cents)),
  preciseAlreadyInvoicedCents: sum((fee.progressive_parts ?? []).map(({ credit_cents }) => decimal(credit_cents))),
});

/**
 * Part of a fee, with the same part of what was taken off it and of what was taxed.
 *
 *   10000 with a coupon of 500, half of it → 5000, 250 off, 4750 taxed
 *   1200 that was credited in full before but billed 500 beyond what is taxed, half of it → 600, 350 off, 0 taxed
 *
 * Rules: e-documents.md#amounts, credit-note-amounts.md#billed-beyond-what-is-taxed.
 */
export function partOfFee(fee: FeeRow, preciseAmountCents: Decimal): StatedFee {
  const share = fee.amount_cents === 0 ? ZERO : preciseAmountCents.div(fee.amount_cents);
  const { precise_coupons_amount_cents: coupons, untaxed_amount_cents: untaxed } = fee;
  return {
    fee,
    amountCents: roundToCents(preciseAmountCents),
    // Less than a cent may be missing where stored shares were rounded.
    preciseAllowanceCents: max(coupons.minus(untaxed).times(share), ZERO),
    preciseTaxedCents: max(decimal(fee.amount_cents).minus(coupons), ZERO).times(share),
  };
}
