import jsvat from 'jsvat-next';
import type { VatNumber } from '../../engine/taxes/eu/choose-eu-tax.ts';
import { isEuCountry } from '../../engine/taxes/eu/standard-rates.ts';

export interface ReadVatNumber extends VatNumber {
  /** Country prefix of the register: EL for Greece. */
  prefix: string;
  /** The number after the prefix. */
  digits: string;
  /** Whether the check digits are right. */
  hasValidChecksum: boolean;
}

/** Reads a number, ignoring blanks, dots and dashes; its prefix gives the country. */
export function readVatNumber(text: string): ReadVatNumber {
  const plain = text.toUpperCase().replaceAll(/[\s.-]/g, '');
  const checked = jsvat.checkVAT(plain, jsvat.countries);
  const country = checked.country?.isoCode.short ?? null;
  const hasValidFormat = checked.isValidFormat && isEuCountry(country);
  return {
    country: hasValidFormat ? country : null,
    hasValidFormat,
    prefix: country === 'GR' ? 'EL' : plain.slice(0, 2),
    digits: plain.slice(2),
    hasValidChecksum: hasValidFormat && checked.isValid,
  };
}
