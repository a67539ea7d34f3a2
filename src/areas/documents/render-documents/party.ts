import type { DocumentModel, Fact, Party } from '../../../platform/documents/model.ts';
import { type PostalAddress, postalLines } from '../../../platform/postal-address.ts';
import type { InvoiceParts } from '../../invoices/invoices/view.ts';
import type { Format } from '../../messaging/documents/number-and-date-formats.ts';
import type { DocumentTexts } from '../../messaging/documents/texts/document-texts.ts';
import { isVatId } from './e-documents/vat-id.ts';
import type { Printed } from './printed-invoice.ts';

/** Who issues or pays, as a document prints it; frozen with the invoice. */
export interface PartyFacts extends PostalAddress {
  name: string;
  email: string | null;
  phone: string | null;
  legal_number: string | null;
  tax_identification_number: string | null;
}

/** Lines of a party: its name first, then address, contact and numbers, without what is empty. */
export function partyOf(label: string, party: PartyFacts, texts: DocumentTexts, format: Format): Party {
  const taxNumber = party.tax_identification_number ?? '';
  const numbers: Fact[] = [
    { label: isVatId(taxNumber) ? texts.vatNumber : texts.taxNumber, value: taxNumber },
    { label: texts.legalNumber, value: party.legal_number ?? '' },
  ];
  return {
    label,
    lines: [
      party.name,
      ...addressLines(party, format),
      ...present([party.email, party.phone]),
      ...numbers.filter(({ value }) => value !== '').map(({ label: name, value }) => `${name}: ${value}`),
    ],
  };
}

/** Lines of an address as its country's post wants them, the country last; empty for an unknown address. */
export const addressLines = (address: PostalAddress, format: Format): string[] =>
  present([...postalLines(address), address.country === null ? null : format.country(address.country)]);

/** Where offices print on Letter: North America and the countries that follow it. */
const LETTER_COUNTRIES: ReadonlySet<string> = new Set([
  'US',
  'CA',
  'MX',
  'CL',
  'CO',
  'CR',
  'GT',
  'PA',
  'PH',
  'PR',
  'VE',
]);

/** The paper of the country of the payer, else of the issuer. */
export function paperOf(parts: Payer, printed: Printed): DocumentModel['paper'] {
  const [seller, buyer] = sellerAndBuyer(parts, printed);
  return LETTER_COUNTRIES.has(buyer.country ?? seller.country ?? '') ? 'LETTER' : 'A4';
}

const present = (lines: readonly (string | null)[]): string[] =>
  lines.filter((line): line is string => line !== null && line.trim() !== '');

/** Who pays an invoice, and whether they bill themselves. */
export interface Payer {
  invoice: Pick<InvoiceParts['invoice'], 'self_billed'>;
  customer: InvoiceParts['customer'];
}

/**
 * Issuer and payer, each by its legal name, else its name, a customer else by first and last name. Of a self-billed
 * invoice they change places, since the partner supplies and is paid.
 */
export function sellerAndBuyer({ invoice, customer: now }: Payer, printed: Printed): [PartyFacts, PartyFacts] {
  const customer = printed.customer ?? now;
  const person = [customer.firstname, customer.lastname].filter((name) => name !== null).join(' ');
  const names = [customer.legal_name, customer.name, person].filter((name) => name !== null && name !== '');
  const payer: PartyFacts = { ...customer, name: names[0] ?? customer.external_id };
  const issuer: PartyFacts = { ...printed.issuer, name: printed.issuer.legal_name || printed.issuer.name };
  return invoice.self_billed ? [payer, issuer] : [issuer, payer];
}

/** Issuer and payer as they are printed, and the place of delivery where it is another one. */
export function partiesOf(parts: InvoiceParts, printed: Printed, texts: DocumentTexts, format: Format): Party[] {
  const { invoice, customer: now } = parts;
  const [from, to] = sellerAndBuyer(parts, printed);
  const customer = printed.customer ?? { ...now, shipping_address: shippingOf(now), metadata: [] };
  const shipping = addressLines(customer.shipping_address, format);
  const isElsewhere = shipping.length > 0 && shipping.join() !== addressLines(customer, format).join();
  return [
    partyOf(texts.issuer, from, texts, format),
    partyOf(texts.payer, to, texts, format),
    ...(isElsewhere && !invoice.self_billed ? [{ label: texts.shipTo, lines: [to.name, ...shipping] }] : []),
  ];
}

/** The address of delivery of a customer as it is stored now. */
export const shippingOf = (customer: InvoiceParts['customer']) => ({
  address_line1: customer.shipping_address_line1,
  address_line2: customer.shipping_address_line2,
  city: customer.shipping_city,
  state: customer.shipping_state,
  zipcode: customer.shipping_zipcode,
  country: customer.shipping_country,
});
