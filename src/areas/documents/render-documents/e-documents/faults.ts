import type { DocumentFacts, VatRow } from '../../../../engine/e-documents/facts.ts';
import { isTaxOfNet } from '../../../../engine/invoices/taxed-net.ts';
import { exponentOf } from '../../../../engine/money/currency.ts';
import { MANDATORY } from '../../../../platform/schema/fields.ts';

/** Amounts of EN 16931 have two decimals at most (BR-DEC). */
const MOST_DECIMALS = 2;

/**
 * Faults for which receivers under EN 16931 would refuse a document, by field; they are reported here because a
 * receiver's refusal would go unnoticed. Fields of the issuer are `billing_entity.…`, those of the payer `customer.…`.
 *
 *   BR-09, BR-11  both parties have a country
 *   BR-CO-26      the seller has a number: legal, VAT or another tax's
 *   BR-S-02       a seller who charges VAT has a tax number
 *   BR-DEC        the currency has two decimals at most
 *   BR-CO-17      the tax of a rate is that of its taxable amount; where progressive billing met a coupon it is not,
 *                 and no category is true for what was not taxed
 *
 * Rule: EN 16931, by the names of its rules.
 */
export function faultsOf(document: DocumentFacts, selfBilled: boolean): Record<string, string[]> {
  const { seller, buyer, vat, currency } = document;
  const [issuer, payer] = selfBilled ? ['customer', 'billing_entity'] : ['billing_entity', 'customer'];
  const taxed = vat.some(({ category }) => category === 'S');
  const hasTaxNumber = [seller.vatNumber, seller.taxRegistration, seller.identifier].some(Boolean);
  const faults: Record<string, string[]> = {};
  if (!seller.country) faults[`${issuer}.country`] = [MANDATORY];
  if (!buyer.country) faults[`${payer}.country`] = [MANDATORY];
  if (taxed && !hasTaxNumber) faults[`${issuer}.tax_identification_number`] = [MANDATORY];
  else if (!hasTaxNumber && !seller.legalNumber) faults[`${issuer}.legal_number`] = [MANDATORY];
  if (exponentOf(currency) > MOST_DECIMALS) faults.currency = ['unsupported_value'];
  if (!vat.every((row) => isTaxOfNet(row, linesOf(document, row))))
    faults.sub_total_excluding_taxes_amount_cents = ['does_not_match_taxed_amount'];
  return faults;
}

const linesOf = ({ lines }: DocumentFacts, { category, rate }: VatRow): number =>
  lines.filter((line) => line.category === category && line.rate.eq(rate)).length;
