import { describe, expect, test } from 'vitest';
import { writtenXml } from '../../../../src/areas/documents/render-documents/e-documents/written.ts';
import { amountLine, factsOf, stored } from '../../../engine/e-documents/sample-facts.ts';

// The amounts of golden cases FI32, FI33 and FI35 as receivers read them: docs/rules/e-documents.md, golden cases.

/** Each element of a name, oldest first, by its text. */
function readerOf(facts: ReturnType<typeof factsOf>) {
  const xml = Buffer.from(writtenXml(facts)).toString();
  return (name: string) =>
    [...xml.matchAll(new RegExp(`<${name}(?: [^>]*)?>([^<]*)</${name}>`, 'g'))].map(([, text]) => text);
}

describe('FI32 a coupon of 24.00 and a progressive credit of 30.00 on 150.00 at 19 %, 55.20 used before issue', () => {
  const lines = [amountLine(10_000, '19', 3600), amountLine(5000, '19', 1800)];
  const amounts = stored({
    couponsCents: 2400,
    alreadyInvoicedCents: 3000,
    netCents: 9600,
    taxCents: 1824,
    paidCents: 5520,
  });

  test('in UBL', () => {
    const texts = readerOf(factsOf('en16931_ubl', lines, amounts));
    expect(texts('cbc:LineExtensionAmount')).toEqual(expect.arrayContaining(['150.00', '100.00', '50.00'])); // BT-106
    expect(texts('cbc:AllowanceTotalAmount')).toEqual(['54.00']); // BT-107
    expect(texts('cbc:TaxExclusiveAmount')).toEqual(['96.00']); // BT-109
    expect(texts('cbc:TaxAmount')).toEqual(['18.24', '18.24']); // BT-110 and its one row
    expect(texts('cbc:TaxInclusiveAmount')).toEqual(['114.24']); // BT-112
    expect(texts('cbc:PrepaidAmount')).toEqual(['55.20']); // BT-113
    expect(texts('cbc:PayableAmount')).toEqual(['59.04']); // BT-115
  });

  test('in CII', () => {
    const texts = readerOf(factsOf('en16931_cii', lines, amounts));
    const total = (name: string) => texts(`ram:${name}`);
    expect(total('LineTotalAmount').at(-1)).toBe('150.00');
    expect(total('AllowanceTotalAmount')).toEqual(['54.00']);
    expect(total('TaxBasisTotalAmount')).toEqual(['96.00']);
    expect(total('TaxTotalAmount')).toEqual(['18.24']);
    expect(total('GrandTotalAmount')).toEqual(['114.24']);
    expect(total('TotalPrepaidAmount')).toEqual(['55.20']);
    expect(total('DuePayableAmount')).toEqual(['59.04']);
  });
});

test('FI33 a coupon of 250.00 on the line at 7 % leaves the rows 179.00/34.01 and 149.00/10.43, together 372.44', () => {
  const lines = [amountLine(17_900, '19'), amountLine(39_900, '7', 25_000)];
  const amounts = stored({ couponsCents: 25_000, netCents: 32_800, taxCents: 4444 });
  const texts = readerOf(factsOf('en16931_ubl', lines, amounts));
  expect(texts('cbc:TaxableAmount')).toEqual(['179.00', '149.00']);
  expect(texts('cbc:TaxAmount')).toEqual(['44.44', '34.01', '10.43']);
  expect(texts('cbc:TaxInclusiveAmount')).toEqual(['372.44']);
});

test('FI35 a note of 5.01 and 5.00 with a net amount of 10.00 has an allowance of 0.01 and the total 11.90', () => {
  const facts = factsOf(
    'en16931_ubl',
    [amountLine(501, '19'), amountLine(500, '19')],
    stored({ netCents: 1000, taxCents: 190 }),
  );
  const texts = readerOf({ ...facts, kind: 'CreditNote', typeCode: '381' });
  expect(texts('cbc:AllowanceChargeReason')).toEqual(['Rounding']);
  expect(texts('cbc:AllowanceTotalAmount')).toEqual(['0.01']);
  expect(texts('cbc:TaxInclusiveAmount')).toEqual(['11.90']);
});
