import { electronicAddress } from './electronic-address.ts';
import type { DocumentParty, SellerFacts } from './facts.ts';
import { compactNumber, digitsOf, registeredNumber } from './identifiers.ts';

/** What a billing entity or a customer says about its electronic documents. Every key may be absent. */
export interface EInvoicing {
  buyer_reference?: string | null;
  leitweg_id?: boolean | null;
  endpoint_id?: string | null;
  endpoint_scheme?: string | null;
  legal_scheme?: string | null;
  tax_registration?: string | null;
  contact_name?: string | null;
  exemption_text?: string | null;
  creditor_id?: string | null;
  auto_send?: boolean | null;
}

/** A party as it is stored. */
export interface StoredParty {
  name: string;
  address_line1: string | null;
  address_line2: string | null;
  city: string | null;
  zipcode: string | null;
  state: string | null;
  country: string | null;
  email: string | null;
  phone: string | null;
  legal_number: string | null;
  tax_identification_number: string | null;
  e_invoicing: EInvoicing | null;
}

interface Circumstances {
  /** Whether a number is a VAT number, which begins with the code of a country. */
  isVatNumber(number: string): boolean;
  /** Nothing on the document is subject to VAT, so that no VAT number is stated (BR-O-02). */
  isOutsideVat: boolean;
}

/** Registers of company numbers that follow from the country and the length of the number. */
function registerOf(country: string | null, number: string | null): string | null {
  const { length } = digitsOf(number);
  if (country === 'FR' && length === 9) return '0002';
  if (country === 'FR' && length === 14) return '0009';
  return country === 'BE' && length === 10 ? '0208' : null;
}

const present = (text: string | null | undefined): string | null => {
  const trimmed = text?.trim();
  return trimmed ? trimmed : null;
};

function partyOf(stored: StoredParty, { isVatNumber, isOutsideVat }: Circumstances) {
  const said = stored.e_invoicing ?? {};
  const typed = present(stored.tax_identification_number);
  const isVat = typed !== null && isVatNumber(compactNumber(typed));
  const number = typed !== null && isVat ? compactNumber(typed) : typed;
  const country = present(stored.country);
  const typedLegal = present(stored.legal_number);
  const legalScheme = typedLegal === null ? null : (present(said.legal_scheme) ?? registerOf(country, typedLegal));
  const legalNumber = typedLegal === null ? null : registeredNumber(legalScheme, typedLegal);
  const email = present(stored.email?.split(',')[0]);
  const party = {
    name: stored.name.trim(),
    address_line1: present(stored.address_line1),
    address_line2: present(stored.address_line2),
    city: present(stored.city),
    zipcode: present(stored.zipcode),
    state: present(stored.state),
    country,
    endpoint: electronicAddress({
      endpointId: present(said.endpoint_id),
      endpointScheme: present(said.endpoint_scheme),
      country,
      vatNumber: isVat ? number : null,
      legalNumber,
      email,
    }),
    legalNumber,
    legalScheme,
    vatNumber: isVat && !isOutsideVat ? number : null,
    contact: { name: present(said.contact_name), phone: present(stored.phone), email },
  };
  return { party, number, isVat };
}

/**
 * The seller of a document. A number of another tax than VAT is a tax registration; where nothing is subject to VAT the
 * VAT number stands as a plain number, and without a company's or a VAT number the tax registration does.
 *
 * Rule: e-documents.md#categories.
 */
export function sellerFacts(stored: StoredParty, circumstances: Circumstances): SellerFacts {
  const { party, number, isVat } = partyOf(stored, circumstances);
  const taxRegistration = present(stored.e_invoicing?.tax_registration) ?? (isVat ? null : number);
  const hidden = isVat && circumstances.isOutsideVat ? number : null;
  const isNumbered = party.legalNumber !== null || party.vatNumber !== null;
  return { ...party, taxRegistration, identifier: hidden ?? (isNumbered ? null : taxRegistration) };
}

/** The buyer of a document: a number that is no VAT number, or must not be stated as one, only identifies it. */
export function buyerFacts(stored: StoredParty, circumstances: Circumstances): DocumentParty {
  const { party, number } = partyOf(stored, circumstances);
  return { ...party, identifier: party.vatNumber === null ? number : null };
}
