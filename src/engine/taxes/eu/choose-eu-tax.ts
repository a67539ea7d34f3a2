import { isEuCountry } from './standard-rates.ts';
import { type Territory, territoryOf } from './territories.ts';

/** Seller and buyer. Countries are ISO codes. */
export interface EuSale {
  sellerCountry: string;
  country: string | null;
  postcode: string | null;
  /** The customer's tax number: none, or the facts about it. */
  number: 'none' | VatNumber;
}

export interface VatNumber {
  /** Country of the number; null if it is malformed. */
  country: string | null;
  hasValidFormat: boolean;
  /** The register's answer; undefined before the register was asked. */
  isValid?: boolean;
}

/** Code of the tax, or a request to ask the register first. */
export type EuTaxChoice = { code: string } | 'ask-register';

export const REVERSE_CHARGE = 'svc_eu_reverse_charge';
export const TAX_EXEMPT = 'svc_eu_tax_exempt';
export const standardCode = (country: string): string => `svc_eu_${country.toLowerCase()}_standard`;
export const territoryCode = ({ country, code }: Pick<Territory, 'country' | 'code'>): string =>
  `svc_eu_${country.toLowerCase()}_exception_${code}`;

/** Whether a tax is a generated EU tax. */
export const isEuTaxCode = (code: string): boolean => code.startsWith('svc_eu_');

/**
 * The single tax of a sale from a country of the Union.
 *
 *   FR to US → exempt;  FR to IT → 22 % there;  FR to IT with a valid number → reverse charge
 *
 * Rule: eu-taxes.md.
 */
export function chooseEuTax(sale: EuSale): EuTaxChoice {
  const { number, sellerCountry, country, postcode } = sale;
  const hasFormat = number !== 'none' && number.hasValidFormat;
  const territory = isEuCountry(country) ? territoryOf(country, postcode) : undefined;
  if (territory && (hasFormat || !territory.isForBusinesses)) return { code: territoryCode(territory) };
  if (number === 'none') return withoutNumber(sale);
  if (number.hasValidFormat && number.isValid === undefined) return 'ask-register';
  if (!number.isValid || number.country === null) return withoutNumber(sale);
  if (number.country !== sellerCountry) return { code: REVERSE_CHARGE };
  const own = territoryOf(number.country, postcode);
  return { code: own ? territoryCode(own) : standardCode(number.country) };
}

function withoutNumber({ country, sellerCountry }: EuSale): EuTaxChoice {
  if (country === null || country === '') return { code: standardCode(sellerCountry) };
  return { code: isEuCountry(country) ? standardCode(country) : TAX_EXEMPT };
}
