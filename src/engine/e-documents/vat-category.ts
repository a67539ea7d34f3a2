import type { VatCategory } from '../invoices/vat-breakdown.ts';
import type { Decimal } from '../money/decimal.ts';
import { REVERSE_CHARGE, TAX_EXEMPT } from '../taxes/eu/choose-eu-tax.ts';

/** How value added tax applies to a line, and why where none is charged. */
export interface VatTreatment {
  category: VatCategory;
  exemptionCode: string | null;
  exemptionText: string | null;
}

/** A tax as it was applied, with what its seller says about it. */
export interface CategorizedTax {
  tax_code: string;
  rate: Decimal;
  vat_category: VatCategory | null;
  exemption_code: string | null;
  exemption_text: string | null;
  /** The answer of a tax engine, whose code says why nothing is charged. */
  isOfEngine?: boolean;
}

interface Untaxed {
  /** Whether the seller has a VAT number. */
  sellerHasVatNumber: boolean;
  /** What the seller says about everything without a tax. */
  exemptionText: string | null;
}

export const REVERSE_CHARGE_CODE = 'VATEX-EU-AE';
export const OUTSIDE_CODE = 'VATEX-EU-O';
const REVERSE_CHARGE_TEXT = 'Reverse charge';
const OUTSIDE_TEXT = 'Not subject to VAT';
const VOUCHER_TEXT = 'Multi-purpose voucher, taxed when used';

const outside = (exemptionText: string, exemptionCode: string | null = OUTSIDE_CODE): VatTreatment => ({
  category: 'O',
  exemptionCode,
  exemptionText,
});

/** Credits that are bought are a multi-purpose voucher: outside the tax until they are used. */
export const VOUCHER: VatTreatment = outside(VOUCHER_TEXT);

/**
 * The treatment of a line by its taxes. What a seller says about a tax wins; otherwise a rate makes it standard, and
 * the generated taxes of the Union say why they are 0.
 *
 *   20 % → S;  reverse charge → AE;  a customer outside the Union → O;  a territory at 0 % → E;  another 0 % → Z
 *   no tax at all: E for a seller with a VAT number, else O
 *
 * Rule: e-documents.md#categories.
 */
export function vatTreatment(taxes: readonly CategorizedTax[], untaxed: Untaxed): VatTreatment {
  const [first] = taxes;
  if (!first) {
    return untaxed.sellerHasVatNumber
      ? { category: 'E', exemptionCode: null, exemptionText: untaxed.exemptionText }
      : outside(untaxed.exemptionText ?? OUTSIDE_TEXT);
  }
  const rated = taxes.find((tax) => tax.rate.gt(0));
  if (rated) return { category: 'S', exemptionCode: null, exemptionText: null };
  const named = taxes.find((tax) => tax.vat_category !== null) ?? first;
  const usual = (named.isOfEngine ? treatmentByEngine : usualTreatment)(named.tax_code);
  const category = named.vat_category ?? usual.category;
  const reasons = category === usual.category ? usual : usualReasons[category];
  // A zero rate is no exemption: it has a row of its own and needs no reason.
  if (category === 'Z' || category === 'S') return { category: 'Z', exemptionCode: null, exemptionText: null };
  return {
    category,
    exemptionCode: named.exemption_code ?? (named.exemption_text === null ? (reasons?.exemptionCode ?? null) : null),
    exemptionText: named.exemption_text ?? (named.exemption_code === null ? (reasons?.exemptionText ?? null) : null),
  };
}

type Reasons = Omit<VatTreatment, 'category'>;

const usualReasons: Partial<Record<VatCategory, Reasons>> = {
  AE: { exemptionCode: REVERSE_CHARGE_CODE, exemptionText: REVERSE_CHARGE_TEXT },
  K: { exemptionCode: 'VATEX-EU-IC', exemptionText: 'Intra-Community supply' },
  G: { exemptionCode: 'VATEX-EU-G', exemptionText: 'Export outside the EU' },
  O: { exemptionCode: OUTSIDE_CODE, exemptionText: OUTSIDE_TEXT },
};

const TERRITORY = /^svc_eu_[a-z]{2}_exception_/;

/** Why a tax engine charged nothing, as the code of its tax says; a code that was taken twice has a number. */
const ENGINE_REASON = /^(reverse_charge|customer_exempt|transaction_exempt)(?:_\d+)?$/;
const ENGINE_EXEMPTIONS: Readonly<Record<string, string>> = {
  customer_exempt: 'Customer exempt',
  transaction_exempt: 'Transaction exempt',
};

function treatmentByEngine(code: string): VatTreatment {
  const reason = ENGINE_REASON.exec(code)?.[1];
  if (reason === 'reverse_charge') return { category: 'AE', ...usualReasons.AE! };
  if (reason === undefined) return { category: 'Z', exemptionCode: null, exemptionText: null };
  return { category: 'E', exemptionCode: null, exemptionText: ENGINE_EXEMPTIONS[reason]! };
}

function usualTreatment(code: string): VatTreatment {
  if (code === REVERSE_CHARGE) return { category: 'AE', ...usualReasons.AE! };
  if (code === TAX_EXEMPT) return outside(OUTSIDE_TEXT);
  if (TERRITORY.test(code))
    return { category: 'E', exemptionCode: null, exemptionText: 'Territory outside the VAT area of the EU' };
  return { category: 'Z', exemptionCode: null, exemptionText: null };
}
