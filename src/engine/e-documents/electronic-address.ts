import { digitsOf, isBelgianEnterpriseNumber, registeredNumber, sirenOf } from './identifiers.ts';

/** Where a party takes electronic documents: a number in the register that the scheme names. */
export interface ElectronicAddress {
  id: string;
  scheme: string;
}

/** Schemes of the list EAS that its keepers gave to VAT numbers of a country. */
const VAT_SCHEMES: Readonly<Record<string, string>> = {
  AD: '9922',
  AL: '9923',
  AT: '9914',
  BA: '9924',
  BE: '9925',
  BG: '9926',
  CH: '9927',
  CY: '9928',
  CZ: '9929',
  DE: '9930',
  EE: '9931',
  ES: '9920',
  FR: '9957',
  GB: '9932',
  GR: '9933',
  HR: '9934',
  HU: '9910',
  IE: '9935',
  IT: '0211',
  LI: '9936',
  LT: '9937',
  LU: '9938',
  LV: '9939',
  MC: '9940',
  ME: '9941',
  MK: '9942',
  MT: '9943',
  NL: '9944',
  PL: '9945',
  PT: '9946',
  RO: '9947',
  RS: '9948',
  SI: '9949',
  SK: '9950',
  SM: '9951',
  TR: '9952',
  VA: '9953',
};

const NUMBERED =
  '0002 0007 0009 0037 0060 0088 0096 0097 0106 0130 0135 0142 0147 0151 0154 0158 0170 0177 0183 0184 0188 0190 ' +
  '0191 0192 0193 0194 0195 0196 0198 0199 0200 0201 0202 0203 0204 0205 0208 0209 0210 0211 0212 0213 0215 0216 ' +
  '0217 0218 0219 0220 0221 0225 0230 0235 0240 9910 9913 9914 9915 9918 9919 9920 9922 9923 9924 9925 9926 9927 ' +
  '9928 9929 9930 9931 9932 9933 9934 9935 9936 9937 9938 9939 9940 9941 9942 9943 9944 9945 9946 9947 9948 9949 ' +
  '9950 9951 9952 9953 9957 9959';

/** Schemes of the network Peppol. */
export const PEPPOL_SCHEMES: ReadonlySet<string> = new Set(NUMBERED.split(' '));
/** Mail: no network takes it, but EN 16931 does. */
export const MAIL_SCHEME = 'EM';
/** The list EAS of EN 16931. */
export const ADDRESS_SCHEMES: ReadonlySet<string> = new Set([...PEPPOL_SCHEMES, 'AN', 'AQ', 'AS', 'AU', MAIL_SCHEME]);

interface Addressed {
  endpointId: string | null;
  endpointScheme: string | null;
  country: string | null;
  vatNumber: string | null;
  legalNumber: string | null;
  email: string | null;
}

/**
 * The electronic address of a party: the one it gave, else the one that its numbers stand for, else its mail.
 *
 *   DE123456789 in Germany → 9930;  SIREN or SIRET in France → 0225;  enterprise number in Belgium → 0208
 *
 * Rule: e-documents.md#facts.
 */
export function electronicAddress(party: Addressed): ElectronicAddress | null {
  const { country, vatNumber, legalNumber, email } = party;
  if (party.endpointId !== null) {
    const scheme = party.endpointScheme ?? (party.endpointId.includes('@') ? MAIL_SCHEME : null);
    if (scheme !== null) return { id: registeredNumber(scheme, party.endpointId), scheme };
  }
  if (country === 'FR') {
    const siren = sirenOf(legalNumber);
    if (siren !== null) return { id: siren, scheme: '0225' };
  }
  if (country === 'BE') {
    const number = [legalNumber, vatNumber].map(digitsOf).find(isBelgianEnterpriseNumber);
    if (number !== undefined) return { id: number, scheme: '0208' };
  }
  const scheme = country === null ? undefined : VAT_SCHEMES[country];
  if (vatNumber !== null && scheme !== undefined) return { id: vatNumber, scheme };
  const mail = email?.split(',')[0]?.trim();
  return mail ? { id: mail, scheme: MAIL_SCHEME } : null;
}
