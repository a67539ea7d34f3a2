import { expect, test } from 'vitest';
import { electronicAddress } from '../../../src/engine/e-documents/electronic-address.ts';
import {
  isBelgianEnterpriseNumber,
  isIban,
  isLeitwegId,
  sirenOf,
} from '../../../src/engine/e-documents/identifiers.ts';
import { chooseProfile } from '../../../src/engine/e-documents/profiles.ts';

test.each([
  ['04011000-12345-03', true],
  ['991-33333TEST-33', true],
  ['04011000-12345-04', false],
  ['04011000-12345', false],
  ['', false],
])('whether "%s" is a Leitweg-ID is found by its form and check digits: %s (FI40)', (text, expected) => {
  expect(isLeitwegId(text)).toBe(expected);
});

test.each([
  ['73282932000074', '732829320'],
  ['732 829 320', '732829320'],
  ['73282932000075', null],
  ['732829321', null],
  [null, null],
])('the SIREN of the number %s is %s (FI41)', (number, siren) => {
  expect(sirenOf(number)).toBe(siren);
});

test.each([
  ['0202239951', true],
  ['0202239952', false],
  ['2202239951', false],
])('whether %s is a Belgian enterprise number: %s', (number, expected) => {
  expect(isBelgianEnterpriseNumber(number)).toBe(expected);
});

test.each([
  ['DE89370400440532013000', true],
  ['DE88370400440532013000', false],
])('whether %s is an IBAN: %s', (number, expected) => {
  expect(isIban(number)).toBe(expected);
});

const unaddressed = {
  endpointId: null,
  endpointScheme: null,
  country: null,
  vatNumber: null,
  legalNumber: null,
  email: null,
};

test.each([
  ['the address it gave', { endpointId: '4012345000009', endpointScheme: '0088' }, '0088 4012345000009'],
  ['the VAT number in Germany', { country: 'DE', vatNumber: 'DE123456789' }, '9930 DE123456789'],
  [
    'the SIREN in France',
    { country: 'FR', vatNumber: 'FR44732829320', legalNumber: '73282932000074' },
    '0225 732829320',
  ],
  ['the enterprise number in Belgium', { country: 'BE', vatNumber: 'BE0202239951' }, '0208 0202239951'],
  ['the VAT number in the Netherlands', { country: 'NL', vatNumber: 'NL123456789B01' }, '9944 NL123456789B01'],
  ['the VAT number in Austria', { country: 'AT', vatNumber: 'ATU12345678' }, '9914 ATU12345678'],
  ['the VAT number in Italy', { country: 'IT', vatNumber: 'IT12345678901' }, '0211 IT12345678901'],
  ['its first mail', { country: 'US', email: 'a@b.example, c@d.example' }, 'EM a@b.example'],
  ['nothing', {}, undefined],
])('the electronic address of a party is %s', (_which, fields, expected) => {
  const address = electronicAddress({ ...unaddressed, ...fields });
  expect(address === null ? undefined : `${address.scheme} ${address.id}`).toBe(expected);
});

test.each([
  ['peppol_bis3', { customerProfile: 'peppol_bis3', entityProfile: 'facturx' }],
  ['xrechnung_cii', { entityProfile: 'xrechnung_cii', einvoicing: true }],
  ['facturx', { einvoicing: true, entityCountry: 'FR' }],
  ['xrechnung_ubl', { einvoicing: true, entityCountry: 'DE', hasLeitwegId: true }],
  ['facturx', { einvoicing: true, entityCountry: 'DE' }],
  ['peppol_bis3', { einvoicing: true, entityCountry: 'BE' }],
  [null, { einvoicing: true, entityCountry: 'US' }],
  [null, { entityCountry: 'FR' }],
] as const)('the chosen profile is %s for %o', (profile, choice) => {
  const nothing = {
    customerProfile: null,
    entityProfile: null,
    einvoicing: false,
    entityCountry: null,
    hasLeitwegId: false,
  };
  expect(chooseProfile({ ...nothing, ...choice })).toBe(profile);
});
