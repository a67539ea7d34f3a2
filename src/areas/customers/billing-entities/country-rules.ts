import { isEuCountry } from '../../../engine/taxes/eu/standard-rates.ts';
import type { BillingEntityFields } from './queries.ts';

const EINVOICING_COUNTRIES: ReadonlySet<string> = new Set(['FR', 'DE']);

/**
 * Faults of fields that the country of an entity does not allow. Elsewhere than in these two countries
 * `e_document_profile` makes electronic documents. Rules: billing-entities.md, error-bodies.md#codes-by-field,
 * e-documents.md#profiles.
 */
export function countryFaults({
  country,
  einvoicing,
  eu_tax_management,
}: Pick<BillingEntityFields, 'country' | 'einvoicing' | 'eu_tax_management'>): Record<string, string[]> {
  const faults: Record<string, string[]> = {};
  if (einvoicing && country === null) faults.einvoicing = ['country_must_be_present'];
  else if (einvoicing && !EINVOICING_COUNTRIES.has(country!)) faults.einvoicing = ['country_not_supported'];
  if (eu_tax_management && !isEuCountry(country)) faults.eu_tax_management = ['billing_entity_must_be_in_eu'];
  return faults;
}
