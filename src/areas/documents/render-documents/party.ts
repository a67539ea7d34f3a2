import type { Fact, Party } from '../../../platform/documents/model.ts';
import type { Format } from '../../messaging/documents/number-and-date-formats.ts';
import type { DocumentTexts } from '../../messaging/documents/texts/document-texts.ts';
import { isVatId } from './e-documents/vat-id.ts';

export interface Address {
  address_line1: string | null;
  address_line2: string | null;
  city: string | null;
  state: string | null;
  zipcode: string | null;
  country: string | null;
}

/** Who issues or pays, as a document prints it; frozen with the invoice. */
export interface PartyFacts extends Address {
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

/** Lines of an address in the most common postal order; empty for an unknown address. */
export const addressLines = (address: Address, format: Format): string[] =>
  present([
    address.address_line1,
    address.address_line2,
    present([address.zipcode, address.city]).join(' '),
    address.state,
    address.country === null ? null : format.country(address.country),
  ]);

const present = (lines: readonly (string | null)[]): string[] =>
  lines.filter((line): line is string => line !== null && line.trim() !== '');
