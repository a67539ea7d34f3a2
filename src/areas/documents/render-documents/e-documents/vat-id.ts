import { compactNumber } from '../../../../engine/e-documents/identifiers.ts';
import { isCountry } from '../../../../engine/places/countries.ts';

/** Greece is EL in VAT numbers, Northern Ireland XI. */
const OTHER_PREFIXES: ReadonlySet<string> = new Set(['EL', 'XI']);
const PREFIX_LENGTH = 2;

/**
 * Whether a tax number is a VAT identifier as EN 16931 reads it: one that begins with the code of a country. The number
 * of another tax, such as Japan's T1234567890123, is not. Rule: EN 16931 BR-CO-09.
 */
export function isVatId(typed: string): boolean {
  const number = compactNumber(typed);
  const prefix = number.slice(0, PREFIX_LENGTH);
  return number.length > PREFIX_LENGTH && (isCountry(prefix) || OTHER_PREFIXES.has(prefix));
}
