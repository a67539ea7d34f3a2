import type { DocumentFacts } from '../../../../src/engine/e-documents/facts.ts';
import { PROFILES } from '../../../../src/engine/e-documents/profiles.ts';
import type { VatTreatment } from '../../../../src/engine/e-documents/vat-category.ts';
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

/** The document of a number: categories, rates, allowances, notes and profiles change at different paces. */
export function documentOf(number: number): DocumentFacts {
  const treatment = TREATMENTS[number % TREATMENTS.length]!;
  const isTaxed = treatment.category === 'S';
  const lines = Array.from({ length: 1 + (number % 5) }, (_, index) => {
    const cents = 33 + ((number * 7919 + index * 104_729) % 1_000_000);
    const rate = isTaxed ? RATES[(number + index) % RATES.length]! : '0';
    return amountLine(cents, rate, number % 3 === 0 ? Math.floor(cents / 10) : 0, treatment);
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
