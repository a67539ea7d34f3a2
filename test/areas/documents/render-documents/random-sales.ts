import fc from 'fast-check';
import type { Profile } from '../../../../src/engine/e-documents/profiles.ts';

/** Taxes of a seller: rates, and every reason for which none is charged. */
export const TAXES = [
  { code: 's19', rate: 19 },
  { code: 's7', rate: 7 },
  { code: 's55', rate: 5.5 },
  { code: 's25', rate: 25 },
  { code: 'city', rate: 2 },
  { code: 'zero', rate: 0 },
  { code: 'exempt', rate: 0, vat_category: 'E', exemption_text: '§ 4 Nr. 21 UStG' },
  { code: 'reverse', rate: 0, vat_category: 'AE' },
  { code: 'within', rate: 0, vat_category: 'K' },
  { code: 'export', rate: 0, vat_category: 'G' },
  { code: 'outside', rate: 0, vat_category: 'O' },
];
/** Category and rate of a fee by its taxes; two of them are one row of the summed rate. */
export const KINDS: Record<string, { taxes: string[]; category: string; rate: string }> = {
  s19: { taxes: ['s19'], category: 'S', rate: '19' },
  s7: { taxes: ['s7'], category: 'S', rate: '7' },
  s55: { taxes: ['s55'], category: 'S', rate: '5.5' },
  s25: { taxes: ['s25'], category: 'S', rate: '25' },
  both: { taxes: ['s19', 'city'], category: 'S', rate: '21' },
  zero: { taxes: ['zero'], category: 'Z', rate: '0' },
  exempt: { taxes: ['exempt'], category: 'E', rate: '0' },
  reverse: { taxes: ['reverse'], category: 'AE', rate: '0' },
  within: { taxes: ['within'], category: 'K', rate: '0' },
  export: { taxes: ['export'], category: 'G', rate: '0' },
};
export const OUTSIDE = { taxes: ['outside'], category: 'O', rate: '0' };
/** Currencies with cents and without; hundredths of each smallest unit. */
export const CURRENCIES: Record<string, bigint> = { EUR: 1n, HUF: 1n, USD: 1n, JPY: 100n };
const PROFILES: Profile[] = ['en16931_ubl', 'en16931_cii', 'peppol_bis3', 'xrechnung_ubl', 'xrechnung_cii'];
/** What people write into names; everything that a file must hold, or must leave out. */
export const NAMES = [
  'Ordinary',
  'Muster & Söhne <GmbH> "Q" \'A\'',
  `Société ${'très longue '.repeat(18)}fin`,
  ']]> <!-- x --> &amp; 🚀',
  'شركة الاختبار 株式会社',
  'bell\u0007 and\ttab',
];

interface Line {
  kind: string;
  units: number;
  price: number;
  name: number;
}

/** What one customer buys, gets off and is given back. */
export interface Play {
  currency: string;
  profile: Profile;
  isOutside: boolean;
  planCents: number;
  lines: Line[];
  percentOff: number;
  centsOff: number;
  /** For each note how much of each fee it gives back, in percent. */
  notes: number[][];
}

const line: fc.Arbitrary<Line> = fc.record({
  kind: fc.constantFrom(...Object.keys(KINDS)),
  units: fc.constantFrom(0, 1, 1, 2, 3, 0.5, 1.333, 17),
  price: fc.constantFrom(0, 0.01, 0.333, 1.015, 9.99, 33, 1234.56),
  name: fc.nat(NAMES.length - 1),
});
export const play: fc.Arbitrary<Play> = fc.record({
  currency: fc.constantFrom(...Object.keys(CURRENCIES)),
  profile: fc.constantFrom(...PROFILES),
  isOutside: fc.integer({ min: 0, max: 7 }).map((number) => number === 0),
  planCents: fc.constantFrom(0, 1, 333, 9999, 100_000),
  lines: fc.array(line, { minLength: 0, maxLength: 7 }),
  percentOff: fc.constantFrom(0, 0, 10, 33.333, 100),
  centsOff: fc.constantFrom(0, 0, 1, 250, 5000),
  notes: fc.array(fc.array(fc.constantFrom(0, 10, 33, 50, 100), { minLength: 8, maxLength: 8 }), { maxLength: 2 }),
});
