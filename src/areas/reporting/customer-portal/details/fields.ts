import type { CustomerRow } from '../../../customers/customers/queries.ts';
import type { BillingDataField } from '../../../customers/portal-settings/settings.ts';
import type { PortalLanguage } from '../texts/by-locale.ts';

/** Fields of a form for billing data, in their order, each with the setting that allows it. */
export const DETAIL_FIELDS = [
  { name: 'legal_name', of: 'legal_name', autocomplete: 'organization' },
  { name: 'name', of: 'name', autocomplete: 'name' },
  { name: 'email', of: 'email', autocomplete: 'email' },
  { name: 'phone', of: 'phone', autocomplete: 'tel' },
  { name: 'address_line1', of: 'address', autocomplete: 'address-line1' },
  { name: 'address_line2', of: 'address', autocomplete: 'address-line2' },
  { name: 'zipcode', of: 'address', autocomplete: 'postal-code' },
  { name: 'city', of: 'address', autocomplete: 'address-level2' },
  { name: 'state', of: 'address', autocomplete: 'address-level1' },
  { name: 'country', of: 'address', autocomplete: 'country' },
  { name: 'tax_identification_number', of: 'tax_identification_number', autocomplete: 'off' },
] as const satisfies readonly { name: keyof CustomerRow; of: BillingDataField; autocomplete: string }[];

export type DetailField = (typeof DETAIL_FIELDS)[number];

/** What a field is called. */
export const labelOf = ({ words, documents }: PortalLanguage, name: DetailField['name']): string =>
  name === 'tax_identification_number' ? documents.vatNumber : words.fields[name];
