/** Forms of VAT numbers in the European Union, after the two letters of the country. */
const FORMS: Readonly<Record<string, RegExp>> = {
  AT: /^U\d{8}$/,
  BE: /^[01]\d{9}$/,
  BG: /^\d{9,10}$/,
  CY: /^\d{8}[A-Z]$/,
  CZ: /^\d{8,10}$/,
  DE: /^\d{9}$/,
  DK: /^\d{8}$/,
  EE: /^\d{9}$/,
  ES: /^[A-Z0-9]\d{7}[A-Z0-9]$/,
  FI: /^\d{8}$/,
  FR: /^[A-Z0-9]{2}\d{9}$/,
  GR: /^\d{9}$/,
  HR: /^\d{11}$/,
  HU: /^\d{8}$/,
  IE: /^\d[A-Z0-9+*]\d{5}[A-Z]{1,2}$/,
  IT: /^\d{11}$/,
  LT: /^(\d{9}|\d{12})$/,
  LU: /^\d{8}$/,
  LV: /^\d{11}$/,
  MT: /^\d{8}$/,
  NL: /^\d{9}B\d{2}$/,
  PL: /^\d{10}$/,
  PT: /^\d{9}$/,
  RO: /^\d{2,10}$/,
  SE: /^\d{12}$/,
  SI: /^\d{8}$/,
  SK: /^\d{10}$/,
};

/** Letters with which numbers of a country begin, where they are not its code. */
const LETTERS: Readonly<Record<string, string>> = { GR: 'EL' };

/**
 * Whether a number has the form of a country's VAT numbers; true of countries without a known one.
 *
 *   FR83404833048 in FR → true; DE12345 in DE → false
 *
 * Rule: portal.md#billing-data.
 */
export function isVatNumber(number: string, country: string | null): boolean {
  const plain = number.toUpperCase().replace(/[\s.-]/g, '');
  const code = country?.toUpperCase() ?? '';
  const form = FORMS[code];
  if (form === undefined) return true;
  const letters = LETTERS[code] ?? code;
  return plain.startsWith(letters) && form.test(plain.slice(letters.length));
}
