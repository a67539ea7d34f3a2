import jsvat from 'jsvat-next';
import type { VatNumber } from '../../engine/taxes/eu/choose-eu-tax.ts';
import { isEuCountry } from '../../engine/taxes/eu/standard-rates.ts';

export interface ReadVatNumber extends VatNumber {
  /** Prefix under which the register knows the country: EL for Greece. */
  prefix: string;
  /** What follows the prefix. */
  digits: string;
  /** Whether the digits that check the others fit. */
  hasValidChecksum: boolean;
}

/** Reads a number as it was written, blanks, dots and dashes aside; its country is that of its prefix. */
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
