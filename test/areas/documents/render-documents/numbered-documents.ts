import type { DocumentFacts } from '../../../../src/engine/e-documents/facts.ts';
import { PROFILES } from '../../../../src/engine/e-documents/profiles.ts';
import type { VatTreatment } from '../../../../src/engine/e-documents/vat-category.ts';
import { decimal } from '../../../../src/engine/money/decimal.ts';
import { amountLine, buyer, factsOf, seller, stored } from '../../../engine/e-documents/sample-facts.ts';

const TREATMENTS: readonly VatTreatment[] = [
  { category: 'S', exemptionCode: null, exemptionText: null },
  { category: 'Z', exemptionCode: null, exemptionText: null },
  { category: 'E', exemptionCode: null, exemptionText: 'exempt' },
  { category: 'AE', exemptionCode: 'VATEX-EU-AE', exemptionText: 'Reverse charge' },
  { category: 'K', exemptionCode: 'VATEX-EU-IC', exemptionText: null },
  { category: 'G', exemptionCode: 'VATEX-EU-G', exemptionText: null },
  { category: 'O', exemptionCode: 'VATEX-EU-O', exemptionText: null },
];
const RATES = ['5.5', '7', '8.875', '19', '20', '25'];

/** What people write into names and texts: everything that a file must hold, or must leave out. */
const ODD_TEXTS: readonly string[] = [
  'Muster & Söhne <GmbH> "Q" \'A\'',
  `Société ${'très longue '.repeat(20)}fin`,
  'Zeile eins\nZeile zwei\r\n\tTab',
  '🚀 Rocket 👩\u200d🚀 ]]> <!-- x --> &amp;',
  'شركة الاختبار המבחן \u202eevil\u202c',
  '株式会社 テスト 北京数据',
  'null\0 bell\u0007 half \ud83d end \ufffe',
];
/** A number of which the document has as many lines as there may be fees in a test of a minute. */
const LONG_ONE = 250;
const MANY_LINES = 1000;

/**
 * The document of a number with odd data: texts, a currency without cents, lines of 0, lines below 0 and one document
 * of a thousand lines.
 */
export function oddDocumentOf(number: number): DocumentFacts {
  const text = ODD_TEXTS[number % ODD_TEXTS.length]!;
  const currency = number % 5 === 0 ? 'JPY' : 'EUR';
  const exponent = currency === 'JPY' ? 0 : 2;
  const facts = documentOf(
    number,
    (cents, index) => {
      if (number % 11 === 0) return 0;
      // The first line is the greatest, so that no document asks for less than nothing.
      return index % 3 === 1 ? -Math.floor(cents / 100) : index === 0 ? cents + 1_000_000 : cents;
    },
    number === LONG_ONE ? MANY_LINES : undefined,
  );
  return {
    ...facts,
    currency,
    note: text,
    seller: { ...facts.seller, name: text, address_line1: text },
    buyer: { ...facts.buyer, name: text, city: text },
    lines: facts.lines.map((line) => ({
      ...line,
      name: text,
      description: text,
      quantity: decimal(line.amountCents < 0 ? -1 : 1),
      price: decimal(line.amountCents)
        .abs()
        .div(10 ** exponent),
    })),
  };
}

/**
 * The document of a number: categories, rates, allowances, notes and profiles change at different paces.
 *
 * @param amountOf changes the amount of a line
 */
export function documentOf(
  number: number,
  amountOf: (cents: number, index: number) => number = (cents) => cents,
  lineCount = 1 + (number % 5),
): DocumentFacts {
  const treatment = TREATMENTS[number % TREATMENTS.length]!;
  const isTaxed = treatment.category === 'S';
  const lines = Array.from({ length: lineCount }, (_, index) => {
    const cents = amountOf(33 + ((number * 7919 + index * 104_729) % 1_000_000), index);
    const rate = isTaxed ? RATES[(number + index) % RATES.length]! : '0';
    return amountLine(cents, rate, number % 3 === 0 ? Math.max(Math.floor(cents / 10), 0) : 0, treatment);
  });
  const sum = (read: (line: (typeof lines)[number]) => number) => lines.reduce((total, line) => total + read(line), 0);
  const couponsCents = sum((line) => line.preciseAllowanceCents.toNumber());
  const taxCents = Math.round(sum((line) => line.preciseTaxCents.toNumber()));
  const netCents = sum((line) => line.amountCents) - couponsCents;
  // Slower than the profiles, so that each of them has notes.
  const isNote = Math.floor(number / PROFILES.length) % 4 === 0;
  const outside = { seller: seller({ vatNumber: null, identifier: 'DE123456789' }), buyer: buyer({ vatNumber: null }) };
  return factsOf(PROFILES[number % PROFILES.length]!, lines, stored({ couponsCents, netCents, taxCents }), {
    number: `MUS-${number}`,
    delivery: treatment.category === 'K' ? { city: 'Paris', zipcode: '75001', country: 'FR' } : null,
    ...(treatment.category === 'O' ? outside : {}),
    ...(isNote
      ? { kind: 'CreditNote', typeCode: '381', dueOn: null, terms: null, payment: { code: '1', reference: 'MUS' } }
      : {}),
    preceding: isNote ? [{ number: 'MUS-0', issuedOn: null }] : [],
  });
}
