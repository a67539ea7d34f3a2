import { describe, expect, test } from 'vitest';
import { faultsOf } from '../../../../src/areas/documents/render-documents/e-documents/faults.ts';
import { type EDocument, ublOf } from '../../../../src/areas/documents/render-documents/e-documents/ubl.ts';
import { isVatId } from '../../../../src/areas/documents/render-documents/e-documents/vat-id.ts';
import type { VatCategory } from '../../../../src/engine/invoices/vat-breakdown.ts';
import { decimal } from '../../../../src/engine/money/decimal.ts';
import { printable } from '../../../../src/platform/documents/characters.ts';
import { xmlText } from '../../../../src/platform/documents/xml.ts';

const party = (fields: object = {}) => ({
  name: 'Acme',
  email: null,
  phone: null,
  address_line1: null,
  address_line2: null,
  city: null,
  state: null,
  zipcode: null,
  country: 'FR',
  legal_number: 'RCS 1',
  tax_identification_number: 'FR32123456789',
  ...fields,
});

const document = (fields: object = {}, category: VatCategory = 'S'): EDocument =>
  ({
    kind: 'Invoice',
    typeCode: '380',
    number: 'A-1',
    issuedOn: '2026-01-01',
    dueOn: null,
    currency: 'EUR',
    note: null,
    orderNumber: null,
    correctedNumber: null,
    seller: party(),
    buyer: party({ tax_identification_number: 'DE123456789', country: 'DE' }),
    lines: [],
    vat: [{ category, rate: decimal(20), lineCents: 0, allowanceCents: 0, netCents: 0, taxCents: 0 }],
    totals: {},
    ...fields,
  }) as unknown as EDocument;

// EN 16931 by the names of its rules.
describe('documents that EN 16931 does not accept', () => {
  test.each([
    [
      'the seller has no country (BR-09)',
      document({ seller: party({ country: null }) }),
      { 'billing_entity.country': ['value_is_mandatory'] },
    ],
    [
      'the buyer has no country (BR-11)',
      document({ buyer: party({ country: null }) }),
      { 'customer.country': ['value_is_mandatory'] },
    ],
    [
      'the seller has no VAT number (BR-S-02)',
      document({ seller: party({ tax_identification_number: null }) }),
      { 'billing_entity.tax_identification_number': ['value_is_mandatory'] },
    ],
    [
      'the seller has no number at all (BR-CO-26)',
      document({ seller: party({ tax_identification_number: null, legal_number: null }) }, 'Z'),
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
            lineCents: 74050,
            allowanceCents: 58557,
            netCents: 15493,
            taxCents: 1864,
          },
        ],
      }),
      { sub_total_excluding_taxes_amount_cents: ['does_not_match_taxed_amount'] },
    ],
    [
      'no fault, the tax is off by rounding only',
      document({
        vat: [{ category: 'S', rate: decimal(19), lineCents: 9810, allowanceCents: 0, netCents: 9810, taxCents: 1860 }],
      }),
      {},
    ],
    ['no fault, everything is there', document(), {}],
    ['no fault, JPY has no decimals', document({ currency: 'JPY' }), {}],
  ])('faults of an electronic document are found: %s', (_rule, of, faults) => {
    expect(faultsOf(of, false)).toEqual(faults);
  });

  test('faults of a self-billed document name the customer as the seller', () => {
    expect(faultsOf(document({ seller: party({ country: null }) }), true)).toEqual({
      'customer.country': ['value_is_mandatory'],
    });
  });
});

describe('tax numbers of the parties', () => {
  const of = (made: EDocument) => {
    const root = ublOf({
      ...made,
      totals: {
        linesCents: 0,
        allowanceCents: 0,
        netCents: 0,
        taxCents: 0,
        grossCents: 0,
        prepaidCents: 0,
        payableCents: 0,
      },
    });
    const sides = root.Invoice as Record<string, Record<string, Record<string, unknown>>>;
    const numbers = (side: string) => {
      const { 'cac:PartyTaxScheme': tax, 'cac:PartyIdentification': other } = sides[side]!['cac:Party'] as Record<
        string,
        Record<string, unknown> | undefined
      >;
      return [
        tax?.['cbc:CompanyID'],
        (tax?.['cac:TaxScheme'] as Record<string, string> | undefined)?.['cbc:ID'],
        other?.['cbc:ID'],
      ];
    };
    return [numbers('cac:AccountingSupplierParty'), numbers('cac:AccountingCustomerParty')];
  };

  test('VAT numbers of both parties are stated as such', () => {
    expect(of(document())).toEqual([
      ['FR32123456789', 'VAT', undefined],
      ['DE123456789', 'VAT', undefined],
    ]);
  });

  test('another tax number registers the seller and identifies the buyer (BR-CO-09)', () => {
    const foreign = { tax_identification_number: 'T1234567890123', country: 'JP' };
    expect(of(document({ seller: party(foreign), buyer: party(foreign) }))).toEqual([
      ['T1234567890123', 'TAX', undefined],
      [undefined, undefined, 'T1234567890123'],
    ]);
  });

  test('a number is not stated as a VAT number where nothing is subject to VAT (BR-O-02)', () => {
    expect(of(document({}, 'O'))).toEqual([
      [undefined, undefined, undefined],
      [undefined, undefined, 'DE123456789'],
    ]);
    expect(of(document({ seller: party({ legal_number: null }) }, 'O'))[0]).toEqual([
      undefined,
      undefined,
      'FR32123456789',
    ]);
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
