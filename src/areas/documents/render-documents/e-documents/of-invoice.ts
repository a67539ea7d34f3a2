import { documentAmounts } from '../../../../engine/e-documents/amounts.ts';
import type { DocumentFacts, Unavailable } from '../../../../engine/e-documents/facts.ts';
import { wholePeriod } from '../../../../engine/e-documents/period.ts';
import { DEFAULT_PROFILE, type Profile } from '../../../../engine/e-documents/profiles.ts';
import type { CreditRow } from '../../../invoices/invoices/credits-of-invoice.ts';
import type { InvoiceParts } from '../../../invoices/invoices/view.ts';
import { fill, formatOf } from '../../../messaging/documents/number-and-date-formats.ts';
import { languageOf } from '../../../messaging/documents/texts/by-locale.ts';
import type { Printed } from '../printed-invoice.ts';
import { bearsOtherTax, type StatedFee, type Statement, statedLine, wholeFee } from './fee-lines.ts';
import {
  buyerReferenceOf,
  isCharged,
  paymentOf,
  type StatedRecords,
  statedParties,
  statedRecords,
} from './stated-parties.ts';
import type { DocumentSources } from './stated-records.ts';
import { isVatId } from './vat-id.ts';

/** What an electronic document is made from. */
export interface DocumentBasis {
  parts: InvoiceParts;
  printed: Printed;
  sources: DocumentSources;
}

/**
 * An invoice as an electronic document: its fees are the lines, coupons and progressive credits the allowances.
 *
 * @param profile null where nobody chose one: then it states what such documents always did
 * Rules: e-documents.md#facts, e-documents.md#amounts.
 */
export function eInvoice(basis: DocumentBasis, profile: Profile | null): DocumentFacts {
  const { parts, printed, sources } = basis;
  const { invoice, fees, credits } = parts;
  const isPlain = profile === null;
  const common = commonFacts(basis, { profile, stated: fees.map(wholeFee), isOrdinary: !invoice.self_billed });
  const paidBefore = Number(sources.paid_before_cents);
  const payableCents = invoice.total_amount_cents - paidBefore;
  const amounts = documentAmounts(common.amountLines, {
    couponsCents: invoice.coupons_amount_cents,
    alreadyInvoicedCents: invoice.progressive_billing_credit_amount_cents,
    netCents: invoice.sub_total_excluding_taxes_amount_cents,
    taxCents: invoice.taxes_amount_cents,
    grossCents: invoice.sub_total_including_taxes_amount_cents,
    paidCents: invoice.credit_notes_amount_cents + invoice.prepaid_credit_amount_cents + paidBefore,
    payableCents,
  });
  const { locale, texts } = languageOf(printed.customer_locale, printed.issuer.document_locale);
  const due = formatOf(locale, invoice.currency, invoice.timezone).date(invoice.payment_due_date);
  // Where nothing is left to pay, nothing is charged.
  const charge = payableCents > 0 ? sources.charge : { ...sources.charge, method: null };
  const isByItself = !invoice.self_billed && charge.method !== null && isCharged(common.records, charge);
  const chargedAs = isByItself ? [texts.chargedToMethod] : [];
  return {
    ...common.facts,
    kind: 'Invoice',
    typeCode: invoice.self_billed ? '389' : '380',
    number: invoice.number,
    issuedOn: invoice.issuing_date,
    dueOn: invoice.payment_due_date,
    currency: invoice.currency,
    note: isPlain ? printed.issuer.invoice_footer : noteOf(printed.issuer.invoice_footer, credits, texts),
    orderNumber: invoice.purchase_order_number,
    preceding: [],
    payment: isPlain
      ? null
      : paymentOf(common.records, {
          number: invoice.number,
          currency: invoice.currency,
          isOrdinary: !invoice.self_billed,
          charge,
        }),
    terms: isPlain ? null : [fill(texts.payableUntil, { date: due }), ...chargedAs].join('. '),
    allowances: amounts.allowances,
    vat: amounts.vat,
    totals: amounts.totals,
    unavailable: [...common.unavailable, ...(amounts.meet ? [] : (['amounts_do_not_meet'] as const))],
  };
}

/** What invoices and notes state alike: parties, lines, period and reference. */
export function commonFacts(
  basis: DocumentBasis,
  { profile, stated }: { profile: Profile | null; stated: readonly StatedFee[]; isOrdinary: boolean },
) {
  const { parts, printed, sources } = basis;
  const isPlain = profile === null;
  const selfBilled = parts.invoice.self_billed;
  const records = statedRecords(parts, printed, { sources, isPlain });
  const seller = selfBilled ? records.payer : records.issuer;
  const statement: Statement = {
    sources,
    isPlain,
    zone: parts.invoice.timezone,
    sellerHasVatNumber: isVatId(seller.tax_identification_number ?? ''),
    exemptionText: seller.e_invoicing?.exemption_text ?? null,
  };
  const lines = stated.map((each) => statedLine(each, statement));
  const isOutsideVat = lines.length > 0 && lines.every(({ line }) => line.category === 'O');
  const unavailable: Unavailable[] = bearsOtherTax(
    stated.map(({ fee }) => fee),
    sources,
  )
    ? ['several_taxes']
    : [];
  const parties = statedParties(records, { selfBilled, isOutsideVat });
  return {
    records,
    unavailable,
    amountLines: lines.map(({ amounts }) => amounts),
    facts: {
      profile: profile ?? DEFAULT_PROFILE,
      ...(isPlain ? withoutDerived(parties) : parties),
      lines: lines.map(({ line }) => line),
      period: isPlain ? null : wholePeriod(lines.map(({ line }) => line.period)),
      buyerReference: isPlain ? null : buyerReferenceOf(records, sources.buyer_reference),
      delivery: lines.some(({ line }) => line.category === 'K') ? deliveryOf(records) : null,
    },
  };
}

/** A plain document states no electronic addresses and no registers: its receiver never asked for them. */
function withoutDerived({ seller, buyer }: Pick<DocumentFacts, 'seller' | 'buyer'>) {
  const bare = { endpoint: null, legalScheme: null };
  return { seller: { ...seller, ...bare }, buyer: { ...buyer, ...bare } };
}

const deliveryOf = ({ payer }: StatedRecords): DocumentFacts['delivery'] => {
  const { city = null, zipcode = null, country = null } = payer.shipping_address ?? {};
  return country === null ? null : { city, zipcode, country };
};

/** BT-22: the issuer's footer, and the numbers of what was invoiced before or paid the invoice. */
function noteOf(
  footer: string | null,
  credits: readonly CreditRow[],
  texts: { progressiveCredit: string; creditNotes: string },
): string | null {
  const numbersOf = (type: CreditRow['item_type'], label: string): string[] => {
    const numbers = credits.filter(({ item_type }) => item_type === type).map(({ item_code }) => item_code);
    return numbers.length === 0 ? [] : [`${label}: ${[...new Set(numbers)].join(', ')}`];
  };
  const notes = [
    ...(footer?.trim() ? [footer.trim()] : []),
    ...numbersOf('invoice', texts.progressiveCredit),
    ...numbersOf('credit_note', texts.creditNotes),
  ];
  return notes.length === 0 ? null : notes.join('\n');
}
