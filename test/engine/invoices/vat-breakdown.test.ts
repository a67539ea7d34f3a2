import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type TaxedLine, vatBreakdown } from '../../../src/engine/invoices/vat-breakdown.ts';
import { cents } from '../../../src/engine/money/cents.ts';
import { decimal } from '../../../src/engine/money/decimal.ts';

const line = (amount: number, rate: string, allowance: string, tax: string): TaxedLine => ({
  category: 'S',
  rate: decimal(rate),
  amountCents: cents(amount),
  preciseAllowanceCents: decimal(allowance),
  preciseTaxCents: decimal(tax),
});

test('lines of one tax rate are one row, and the allowance is split with them', () => {
  const lines = [line(5000, '20', '500', '900'), line(3000, '10', '300', '270'), line(2000, '20', '200', '360')];
  const rows = vatBreakdown(lines, { allowanceCents: cents(1000), taxCents: cents(1530) });
  expect(rows.map(({ rate, ...row }) => ({ rate: rate.toFixed(), ...row }))).toEqual([
    { category: 'S', rate: '20', lineCents: 7000, allowanceCents: 700, netCents: 6300, taxCents: 1260 },
    { category: 'S', rate: '10', lineCents: 3000, allowanceCents: 300, netCents: 2700, taxCents: 270 },
  ]);
});

test('a document without lines has no tax rows', () => {
  expect(vatBreakdown([], { allowanceCents: cents(0), taxCents: cents(0) })).toEqual([]);
});

test.each([
  // What stands beside the rates is the exact tax of the row.
  [
    'the larger remainder takes the cent',
    [
      [9999, '19', '1899.81'],
      [666, '7', '46.62'],
    ],
    1946,
    [1900, 46],
  ],
  [
    'whole yen are less than one off',
    [
      [3003, '19', '570.57'],
      [333, '8.875', '29.55375'],
    ],
    600,
    [571, 29],
  ],
  [
    'a row below zero',
    [
      [10_000, '19', '1900'],
      [-500, '7', '-35'],
    ],
    1865,
    [1900, -35],
  ],
  [
    'a row below zero with cents to split',
    [
      [333, '19', '63.27'],
      [-50, '7', '-3.5'],
    ],
    60,
    [63, -3],
  ],
  [
    'a zero rate bears no cent of rounding',
    [
      [333, '19', '63.27'],
      [999, '0', '0'],
    ],
    63,
    [63, 0],
  ],
  [
    'what a tax engine rounded line by line is in proportion',
    [
      [9999, '8.875', '887.41'],
      [100, '0', '0'],
    ],
    890,
    [890, 0],
  ],
  [
    'more than rounding, with a row below zero',
    [
      [333, '19', '63.27'],
      [-50, '7', '-3.5'],
    ],
    70,
    [74, -4],
  ],
] as const)('the tax of each row is near base × rate: %s', (_, rows, taxCents, expected) => {
  const lines = rows.map(([amount, rate, tax]) => line(amount, rate, '0', tax));
  const shares = vatBreakdown(lines, { allowanceCents: cents(0), taxCents: cents(taxCents) });
  expect(shares.map((row) => row.taxCents)).toEqual(expected);
});

test('no tax of a row is a whole unit off base × rate, which receivers refuse, in currencies without cents too', () => {
  const lines = fc.array(
    fc.record({ amount: fc.integer({ min: -5000, max: 100_000 }), rate: fc.constantFrom('5.5', '7', '8.875', '19') }),
    { minLength: 1, maxLength: 30 },
  );
  fc.assert(
    fc.property(lines, (given) => {
      const exact = given.map(({ amount, rate }) => decimal(amount).times(rate).div(100));
      const whole = exact.reduce((sum, tax) => sum.plus(tax), decimal(0));
      const taxCents = cents(whole.toDecimalPlaces(0).toNumber());
      const rows = vatBreakdown(
        given.map(({ amount, rate }, index) => line(amount, rate, '0', exact[index]!.toFixed())),
        { allowanceCents: cents(0), taxCents },
      );
      for (const row of rows) {
        const off = decimal(row.netCents).times(row.rate).div(100).minus(row.taxCents).abs();
        expect(off.toNumber()).toBeLessThan(1);
      }
    }),
  );
});

test('tax rows always sum to the totals of the document', () => {
  const amount = fc.integer({ min: 0, max: 1_000_000 });
  const lines = fc.array(
    fc.record({ amount, rate: fc.constantFrom('0', '5.5', '20'), share: fc.integer({ min: 0, max: 100 }) }),
    { minLength: 1, maxLength: 20 },
  );
  fc.assert(
    fc.property(lines, amount, amount, (given, allowance, tax) => {
      const rows = vatBreakdown(
        given.map((each) => line(each.amount, each.rate, String(each.share), String(each.share))),
        { allowanceCents: cents(allowance), taxCents: cents(tax) },
      );
      const total = (read: (row: (typeof rows)[number]) => number) => rows.reduce((sum, row) => sum + read(row), 0);
      expect(total((row) => row.lineCents)).toBe(given.reduce((sum, each) => sum + each.amount, 0));
      expect(total((row) => row.allowanceCents)).toBe(allowance);
      expect(total((row) => row.taxCents)).toBe(tax);
      expect(total((row) => row.netCents)).toBe(total((row) => row.lineCents) - allowance);
    }),
  );
});
