/** Leitweg-ID: part of a public body in Germany, its own part, two check digits. */
const LEITWEG_ID = /^[0-9]{2,12}(-[A-Z0-9]{0,30})?-[0-9]{2}$/;
const SIREN_LENGTH = 9;
const SIRET_LENGTH = 14;

/** Whether the check digits of a text are right after ISO 7064, modulo 97: letters count from A = 10. */
const isMod97 = (text: string): boolean => {
  let rest = 0;
  for (const character of text) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
};

/**
 * Whether a text is a Leitweg-ID, with its check digits.
 *
 *   04011000-12345-03 is one, 04011000-12345-04 is not
 */
export const isLeitwegId = (text: string): boolean => LEITWEG_ID.test(text) && isMod97(text.replaceAll('-', ''));

/** Whether a text is an account number after ISO 13616, without blanks. */
export const isIban = (text: string): boolean =>
  /^[A-Z]{2}[0-9]{2}[A-Z0-9]{1,30}$/.test(text) && isMod97(`${text.slice(4)}${text.slice(0, 4)}`);

/** The digits of a number that people write with dots, blanks and the code of the country. */
export const digitsOf = (text: string | null): string => (text ?? '').replace(/[^0-9]/g, '');

/** How many digits the numbers of a register have that people also write with dots and blanks. */
const REGISTERED_DIGITS: Readonly<Record<string, number>> = {
  '0002': SIREN_LENGTH,
  '0007': 10,
  '0009': SIRET_LENGTH,
  '0106': 8,
  '0192': 9,
  '0208': 10,
};

/** A number without the blanks, dots and hyphens that people put between its parts, in capitals. */
export const compactNumber = (number: string): string => number.replace(/[\s.\u00a0-]/g, '').toUpperCase();

/**
 * A number as its register writes it, by which receivers find and check it; a text that does not fit stays as it is,
 * for the rules to name.
 *
 *   0208 BE 0202.239.951 → 0202239951;  0009 732 829 320 00074 → 73282932000074
 */
export function registeredNumber(scheme: string | null, number: string): string {
  const digits = digitsOf(number);
  if (scheme === '0184') return /^(DK)?[0-9]{8}$/.test(compactNumber(number)) ? `DK${digits}` : number;
  if (scheme === '0088') return /^[0-9]+$/.test(compactNumber(number)) ? digits : number;
  return scheme !== null && REGISTERED_DIGITS[scheme] === digits.length ? digits : number;
}

/** Luhn's check: every second digit from the right counts double. */
export function isLuhn(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return digits.length > 0 && sum % 10 === 0;
}

/**
 * Number of a French company: a SIREN, or the first nine digits of the SIRET of one of its places.
 *
 *   73282932000074 → 732829320
 *
 * @returns null for a text that is neither
 */
export function sirenOf(number: string | null): string | null {
  const digits = digitsOf(number);
  if (digits.length !== SIREN_LENGTH && digits.length !== SIRET_LENGTH) return null;
  const siren = digits.slice(0, SIREN_LENGTH);
  return isLuhn(digits) && isLuhn(siren) ? siren : null;
}

/** Whether ten digits are a Belgian enterprise number: the last two are 97 less the rest of the first eight. */
export const isBelgianEnterpriseNumber = (digits: string): boolean =>
  /^[01][0-9]{9}$/.test(digits) && 97 - (Number(digits.slice(0, 8)) % 97) === Number(digits.slice(8));
