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
