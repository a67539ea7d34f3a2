import { expect, test } from 'vitest';
import { buyerFacts, type StoredParty, sellerFacts } from '../../../src/engine/e-documents/parties.ts';
import { type CategorizedTax, vatTreatment } from '../../../src/engine/e-documents/vat-category.ts';
import { decimal } from '../../../src/engine/money/decimal.ts';

const tax = (tax_code: string, rate: string, said: Partial<CategorizedTax> = {}): CategorizedTax => ({
  tax_code,
  rate: decimal(rate),
  vat_category: null,
  exemption_code: null,
  exemption_text: null,
  ...said,
});
const engine = (tax_code: string) => tax(tax_code, '0', { isOfEngine: true });
const german = { sellerHasVatNumber: true, exemptionText: null };

// Rule: docs/rules/e-documents.md "categories".
test.each([
  ['a rate', [tax('de', '19')], 'S', null, null],
  ['two rates', [tax('de', '19'), tax('city', '0')], 'S', null, null],
  ['reverse charge', [tax('svc_eu_reverse_charge', '0')], 'AE', 'VATEX-EU-AE', 'Reverse charge'],
  ['a customer outside the Union', [tax('svc_eu_tax_exempt', '0')], 'O', 'VATEX-EU-O', 'Not subject to VAT'],
  [
    'a territory',
    [tax('svc_eu_es_exception_canary_islands', '0')],
    'E',
    null,
    'Territory outside the VAT area of the EU',
  ],
  ['another zero rate', [tax('books', '0')], 'Z', null, null],
  ['a reverse charge by a tax engine', [engine('reverse_charge')], 'AE', 'VATEX-EU-AE', 'Reverse charge'],
  ['a second code of a tax engine', [engine('reverse_charge_2')], 'AE', 'VATEX-EU-AE', 'Reverse charge'],
  ['an exempt customer of a tax engine', [engine('customer_exempt')], 'E', null, 'Customer exempt'],
  ['an exempt transaction of a tax engine', [engine('transaction_exempt')], 'E', null, 'Transaction exempt'],
  ['another answer of a tax engine', [engine('not_collecting')], 'Z', null, null],
  ['a tax of the seller that is named like it', [tax('reverse_charge', '0')], 'Z', null, null],
  [
    'goods that are exported',
    [tax('svc_eu_tax_exempt', '0', { vat_category: 'G' })],
    'G',
    'VATEX-EU-G',
    'Export outside the EU',
  ],
  [
    'an exemption in words of the seller',
    [tax('school', '0', { vat_category: 'E', exemption_text: '§ 4 Nr. 21 UStG' })],
    'E',
    null,
    '§ 4 Nr. 21 UStG',
  ],
] as const)('%s has category and reason', (_what, taxes, category, exemptionCode, exemptionText) => {
  expect(vatTreatment(taxes, german)).toEqual({ category, exemptionCode, exemptionText });
});

test('no tax is an exemption of a seller with a VAT number, and outside the tax of another', () => {
  expect(vatTreatment([], { sellerHasVatNumber: true, exemptionText: 'small business' })).toMatchObject({
    category: 'E',
    exemptionText: 'small business',
  });
  expect(vatTreatment([], { sellerHasVatNumber: false, exemptionText: null })).toMatchObject({
    category: 'O',
    exemptionCode: 'VATEX-EU-O',
  });
});

test.each([
  ['BE', '0202.239.951', undefined, '0208', '0202239951'],
  ['BE', 'BE 0202.239.951', undefined, '0208', '0202239951'],
  ['FR', '732 829 320 00074', undefined, '0009', '73282932000074'],
  ['NL', '12 34 56 78', '0106', '0106', '12345678'],
  ['DK', '1234 5678', '0184', '0184', 'DK12345678'],
  ['DE', 'HRB 12-34', undefined, null, 'HRB 12-34'],
  ['BE', '0202.239', '0208', '0208', '0202.239'],
])(
  'in %s the legal number %s is stated as its register writes it',
  (country, legal_number, scheme, expected, number) => {
    const stated = sellerFacts(party({ country, legal_number, e_invoicing: { legal_scheme: scheme ?? null } }), {
      isVatNumber: () => false,
      isOutsideVat: false,
    });
    expect([stated.legalScheme, stated.legalNumber]).toEqual([expected, number]);
  },
);

test('a VAT number that was typed with blanks and dots is stated without them, also as an electronic address', () => {
  const isVatNumber = (number: string) => number.startsWith('DE');
  const stated = buyerFacts(party({ country: 'DE', tax_identification_number: 'de 123.456-789' }), {
    isVatNumber,
    isOutsideVat: false,
  });
  expect(stated).toMatchObject({ vatNumber: 'DE123456789', endpoint: { id: 'DE123456789', scheme: '9930' } });
});

test('a tax registration keeps its slashes', () => {
  const stated = sellerFacts(party({ tax_identification_number: '30/123/45678' }), {
    isVatNumber: () => false,
    isOutsideVat: false,
  });
  expect(stated).toMatchObject({ vatNumber: null, taxRegistration: '30/123/45678' });
});

const party = (fields: Partial<StoredParty> = {}): StoredParty => ({
  name: 'Acme',
  address_line1: null,
  address_line2: null,
  city: ' ',
  zipcode: null,
  state: null,
  country: 'DE',
  email: null,
  phone: null,
  legal_number: null,
  tax_identification_number: 'DE123456789',
  e_invoicing: null,
  ...fields,
});
const isVatNumber = (number: string) => number.startsWith('DE');
const taxed = { isVatNumber, isOutsideVat: false };
const outside = { isVatNumber, isOutsideVat: true };

test('where nothing is subject to VAT no VAT number is stated as one, and the seller keeps the others (FI36, FI37)', () => {
  const numbers = { legal_number: 'HRB 1', e_invoicing: { tax_registration: '30/123/45678' } };
  expect(sellerFacts(party(numbers), outside)).toMatchObject({
    vatNumber: null,
    identifier: 'DE123456789',
    legalNumber: 'HRB 1',
    taxRegistration: '30/123/45678',
  });
  expect(buyerFacts(party(), outside)).toMatchObject({ vatNumber: null, identifier: 'DE123456789' });
  expect(sellerFacts(party(), taxed)).toMatchObject({ vatNumber: 'DE123456789', identifier: null, city: null });
});

test('a tax registration identifies a seller without any other number', () => {
  const registered = { tax_identification_number: null, e_invoicing: { tax_registration: '30/123/45678' } };
  expect(sellerFacts(party(registered), taxed)).toMatchObject({ identifier: '30/123/45678', vatNumber: null });
  const foreign = party({ tax_identification_number: 'T1234567890123' });
  expect(sellerFacts(foreign, taxed)).toMatchObject({ vatNumber: null, taxRegistration: 'T1234567890123' });
  expect(buyerFacts(foreign, taxed)).toMatchObject({ vatNumber: null, identifier: 'T1234567890123' });
});

test.each([
  ['FR', '73282932000074', '0009'],
  ['FR', '732829320', '0002'],
  ['BE', '0202.239.951', '0208'],
  ['DE', 'HRB 1', null],
])('the register of the company number in %s of %s is %s', (country, legal_number, legalScheme) => {
  expect(buyerFacts(party({ country, legal_number }), taxed)).toMatchObject({ legalScheme });
});
