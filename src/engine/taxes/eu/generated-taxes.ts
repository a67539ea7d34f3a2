import { REVERSE_CHARGE, standardCode, TAX_EXEMPT, territoryCode } from './choose-eu-tax.ts';
import { EU_STANDARD_RATES, rateOn } from './standard-rates.ts';
import { EU_TERRITORIES, territoryRateOn } from './territories.ts';

export interface GeneratedTax {
  code: string;
  name: string;
  /** Percent, as decimal text. */
  rate: string;
}

/** The EU taxes of an organization that sells in the Union, at the rates of a day. Rule: eu-taxes.md. */
export const euTaxesOn = (day: string): GeneratedTax[] => [
  ...Object.entries(EU_STANDARD_RATES).map(([country, rates]) => ({
    code: standardCode(country),
    name: `VAT ${country} standard`,
    rate: rateOn(rates, day),
  })),
  ...EU_TERRITORIES.map((territory) => ({
    code: territoryCode(territory),
    name: `VAT ${territory.country} ${territory.name}`,
    rate: territoryRateOn(territory, day),
  })),
  { code: REVERSE_CHARGE, name: 'VAT reverse charge', rate: '0' },
  { code: TAX_EXEMPT, name: 'VAT exempt', rate: '0' },
];
