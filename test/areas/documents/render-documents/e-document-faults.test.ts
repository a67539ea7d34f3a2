import { describe, expect, test } from 'vitest';
import { faultsOf } from '../../../../src/areas/documents/render-documents/e-documents/faults.ts';
import { ublOf } from '../../../../src/areas/documents/render-documents/e-documents/ubl.ts';
import { isVatId } from '../../../../src/areas/documents/render-documents/e-documents/vat-id.ts';
import type { DocumentFacts } from '../../../../src/engine/e-documents/facts.ts';
import type { VatCategory } from '../../../../src/engine/invoices/vat-breakdown.ts';
import { decimal } from '../../../../src/engine/money/decimal.ts';
import { printable } from '../../../../src/platform/documents/characters.ts';
import { type XmlElement, xmlText } from '../../../../src/platform/documents/xml.ts';
import { amountLine, buyer, factsOf, seller, stored } from '../../../engine/e-documents/sample-facts.ts';

const STANDARD = { category: 'S', exemptionCode: null, exemptionText: null } as const;

const document = (fields: Partial<DocumentFacts> = {}, category: VatCategory = 'S'): DocumentFacts =>
  factsOf(
    'en16931_ubl',
    [amountLine(10_000, category === 'S' ? '20' : '0', 0, { ...STANDARD, category })],
    stored({ netCents: 10_000, taxCents: category === 'S' ? 2000 : 0 }),
    fields,
  );

// EN 16931 by the names of its rules.
describe('documents that EN 16931 does not accept', () => {
  test.each([
    [
      'the seller has no country (BR-09)',
      document({ seller: seller({ country: null }) }),
      { 'billing_entity.country': ['value_is_mandatory'] },
    ],
    [
      'the buyer has no country (BR-11)',
      document({ buyer: buyer({ country: null }) }),
      { 'customer.country': ['value_is_mandatory'] },
    ],
    [
      'the seller has no VAT number (BR-S-02)',
      document({ seller: seller({ vatNumber: null }) }),
      { 'billing_entity.tax_identification_number': ['value_is_mandatory'] },
    ],
    [
      'the seller has no number at all (BR-CO-26)',
      document({ seller: seller({ vatNumber: null }) }, 'Z'),
      { 'billing_entity.legal_number': ['value_is_mandatory'] },
    ],
    ['the currency has three decimals (BR-DEC)', document({ currency: 'KWD' }), { currency: ['unsupported_value'] }],
    [
      'the tax does not match the taxed amount (BR-CO-17)',
      document({
        vat: [
          {
            category: 'S',
            rate: decimal(19),
            netCents: 15493,
            taxCents: 1864,
            exemptionCode: null,
            exemptionText: null,
          },
        ],
      }),
      { sub_total_excluding_taxes_amount_cents: ['does_not_match_taxed_amount'] },
    ],
    [
      'no fault, the tax is off by rounding only',
      document({
        vat: [
          {
            category: 'S',
            rate: decimal(19),
            netCents: 9810,
            taxCents: 1860,
            exemptionCode: null,
            exemptionText: null,
          },
        ],
      }),
      {},
    ],
    ['no fault, everything is there', document(), {}],
    ['no fault, JPY has no decimals', document({ currency: 'JPY' }), {}],
  ])('faults of an electronic document are found: %s', (_rule, of, faults) => {
    expect(faultsOf(of, false)).toEqual(faults);
  });

  test('faults of a self-billed document name the customer as the seller', () => {
    expect(faultsOf(document({ seller: seller({ country: null }) }), true)).toEqual({
      'customer.country': ['value_is_mandatory'],
    });
  });
});

describe('tax numbers of the parties', () => {
  const numbersOf = (facts: DocumentFacts, side: string) => {
    const root = ublOf(facts).Invoice as Record<string, Record<string, Record<string, XmlElement[]>>>;
    const party = root[side]!['cac:Party']!;
    return {
      taxes: party['cac:PartyTaxScheme']!.map((tax) => [
        tax['cbc:CompanyID'],
        (tax['cac:TaxScheme'] as XmlElement)['cbc:ID'],
      ]),
      others: party['cac:PartyIdentification']!.map((other) => other['cbc:ID']),
    };
  };

  test('a VAT number and a tax registration stand in groups of their own, other numbers identify', () => {
    const facts = document({
      seller: seller({ taxRegistration: '30/123/45678' }),
      buyer: buyer({ vatNumber: null, identifier: 'T1234567890123' }),
    });
    expect(numbersOf(facts, 'cac:AccountingSupplierParty')).toEqual({
      taxes: [
        ['DE123456789', 'VAT'],
        ['30/123/45678', 'TAX'],
      ],
      others: [],
    });
    expect(numbersOf(facts, 'cac:AccountingCustomerParty')).toEqual({ taxes: [], others: ['T1234567890123'] });
  });

  test.each([
    ['FR32123456789', 'is', true],
    ['EL123456789', 'is', true],
    ['XI123456789', 'is', true],
    ['T1234567890123', 'is not', false],
    ['ZZ123', 'is not', false],
    ['12-3456789', 'is not', false],
    ['', 'is not', false],
  ])('the text "%s" %s a VAT number', (number, _verb, expected) => {
    expect(isVatId(number)).toBe(expected);
  });
});

test('characters that XML cannot hold are left out and all others stay', () => {
  expect(printable('Bell \u0007 Co \u001f\ud800 \ufffe')).toBe('Bell  Co  ');
  expect(printable('Ünïcödé\t東京 😀\n')).toBe('Ünïcödé\t東京 😀\n');
  const text = Buffer.from(xmlText({ a: { '@name': 'x\u0007', '#': 'Bell \u0007' } })).toString();
  expect(text).toContain('<a name="x">Bell </a>');
});
