import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { documentAmounts } from '../../../src/engine/e-documents/amounts.ts';
import { isReady, problemsOf } from '../../../src/engine/e-documents/rules.ts';
import { decimal } from '../../../src/engine/money/decimal.ts';
import { amountLine, factsOf, stored } from './sample-facts.ts';

/** Rows as rate: base/tax, allowances as reason: amount. */
function shown(amounts: ReturnType<typeof documentAmounts>) {
  return {
    rows: amounts.vat.map((row) => `${row.rate.toFixed()}: ${row.netCents}/${row.taxCents}`),
    allowances: amounts.allowances.map((each) => `${each.isCharge ? '+' : '-'}${each.reason}: ${each.amountCents}`),
  };
}

// Golden cases of docs/rules/e-documents.md, FI32 to FI35.
describe('amounts of an electronic document', () => {
  test('coupons and progressive credit are two allowances, and what was used before is paid (FI32)', () => {
    const lines = [amountLine(10_000, '19', 3600), amountLine(5000, '19', 1800)];
    const amounts = documentAmounts(
      lines,
      stored({ couponsCents: 2400, alreadyInvoicedCents: 3000, netCents: 9600, taxCents: 1824, paidCents: 5520 }),
    );
    expect(amounts.totals).toEqual({
      linesCents: 15_000,
      allowancesCents: 5400,
      chargesCents: 0,
      netCents: 9600,
      taxCents: 1824,
      grossCents: 11_424,
      paidCents: 5520,
      roundingCents: 0,
      payableCents: 5904,
    });
    expect(shown(amounts)).toEqual({
      rows: ['19: 9600/1824'],
      allowances: ['-Discount: 2400', '-Already invoiced: 3000'],
    });
  });

  test('a coupon on one rate reduces only the row of that rate (FI33)', () => {
    const lines = [amountLine(17_900, '19'), amountLine(39_900, '7', 25_000)];
    const amounts = documentAmounts(lines, stored({ couponsCents: 25_000, netCents: 32_800, taxCents: 4444 }));
    expect(shown(amounts)).toEqual({
      rows: ['19: 17900/3401', '7: 14900/1043'],
      allowances: ['-Discount: 25000'],
    });
    expect(amounts.totals.grossCents).toBe(37_244);
  });

  test('a coupon and a progressive credit on lines of different rates are named each on its own line', () => {
    const lines = [
      amountLine(10_000, '19', 2000),
      { ...amountLine(10_000, '7', 3000), preciseAlreadyInvoicedCents: decimal(3000) },
    ];
    const amounts = documentAmounts(
      lines,
      stored({ couponsCents: 2000, alreadyInvoicedCents: 3000, netCents: 15_000, taxCents: 1520 + 490 }),
    );
    expect(shown(amounts)).toEqual({
      rows: ['19: 8000/1520', '7: 7000/490'],
      allowances: ['-Discount: 2000', '-Already invoiced: 3000'],
    });
    expect(amounts.allowances.map(({ rate }) => rate.toFixed())).toEqual(['19', '7']);
  });

  test('a coupon whose cents round above the allowance of its row takes the rest off the next one', () => {
    const lines = [
      amountLine(100, '19', '0.5'),
      amountLine(100, '7', '0.5'),
      { ...amountLine(100, '0', 2), preciseAlreadyInvoicedCents: decimal(1) },
    ];
    const amounts = documentAmounts(
      lines,
      stored({ couponsCents: 2, alreadyInvoicedCents: 1, netCents: 297, taxCents: 26 }),
    );
    expect(shown(amounts).allowances).toEqual(['-Discount: 1', '-Discount: 1', '-Already invoiced: 1']);
  });

  test('three small lines make one row with the tax of their sum (FI34)', () => {
    const lines = [amountLine(33, '19'), amountLine(33, '19'), amountLine(33, '19')];
    expect(shown(documentAmounts(lines, stored({ netCents: 99, taxCents: 19 }))).rows).toEqual(['19: 99/19']);
  });

  test('a note whose items exceed its net by a cent has an allowance for rounding (FI35)', () => {
    const lines = [amountLine(501, '19'), amountLine(500, '19')];
    const amounts = documentAmounts(lines, stored({ netCents: 1000, taxCents: 190 }));
    expect(shown(amounts)).toEqual({ rows: ['19: 1000/190'], allowances: ['-Rounding: 1'] });
    expect(amounts).toMatchObject({ meet: true, totals: { allowancesCents: 1, grossCents: 1190, payableCents: 1190 } });
  });

  test('a note whose items lack a cent has a charge for rounding in the greatest row', () => {
    const lines = [amountLine(300, '7'), amountLine(700, '19')];
    const amounts = documentAmounts(lines, stored({ netCents: 1001, taxCents: 154 }));
    expect(shown(amounts)).toMatchObject({ allowances: ['+Rounding: 1'] });
    expect(amounts.vat.map(({ netCents }) => netCents)).toEqual([300, 701]);
  });

  test('a difference of more than a cent a line is a finding, not rounding', () => {
    const amounts = documentAmounts([amountLine(1000, '19')], stored({ netCents: 998, taxCents: 190 }));
    expect(amounts.meet).toBe(false);
  });

  test('a payable amount one cent from total less paid is rounding, two are a finding', () => {
    const of = (payableCents: number) =>
      documentAmounts([amountLine(1000, '19')], { ...stored({ netCents: 1000, taxCents: 190 }), payableCents });
    expect(of(1191)).toMatchObject({ meet: true, totals: { roundingCents: 1 } });
    expect(of(1192).meet).toBe(false);
  });
});

test('the rows of any document sum to its tax, and its totals follow from one another', () => {
  const line = fc.record({
    amount: fc.integer({ min: 0, max: 1_000_000 }),
    rate: fc.constantFrom('5.5', '7', '19', '20', '8.875'),
    part: fc.integer({ min: 0, max: 100 }),
  });
  const document = fc.record({
    lines: fc.array(line, { minLength: 1, maxLength: 20 }),
    progressivePart: fc.integer({ min: 0, max: 100 }),
    paidPart: fc.integer({ min: 0, max: 100 }),
  });
  fc.assert(
    fc.property(document, ({ lines: given, progressivePart, paidPart }) => {
      const lines = given.map(({ amount, rate, part }) => amountLine(amount, rate, Math.floor((amount * part) / 100)));
      const total = (read: (each: (typeof lines)[number]) => number) =>
        lines.reduce((sum, each) => sum + read(each), 0);
      const allowance = total((each) => each.preciseAllowanceCents.toNumber());
      const progressive = Math.floor((allowance * progressivePart) / 100);
      const netCents = total((each) => each.amountCents) - allowance;
      const taxCents = Math.round(total((each) => each.preciseTaxCents.toNumber()));
      const amounts = stored({
        couponsCents: allowance - progressive,
        alreadyInvoicedCents: progressive,
        netCents,
        taxCents,
        paidCents: Math.floor(((netCents + taxCents) * paidPart) / 100),
      });
      const facts = factsOf('peppol_bis3', lines, amounts);
      expect(facts.vat.reduce((sum, row) => sum + row.taxCents, 0)).toBe(taxCents);
      expect(facts.vat.reduce((sum, row) => sum + row.netCents, 0)).toBe(netCents);
      const problems = problemsOf(facts);
      expect(problems).toEqual([]);
      expect(isReady(problems)).toBe(true);
    }),
  );
});

test('a document without lines whose amounts are a cent apart is computed and does not meet', () => {
  const { allowances, vat, totals, meet } = documentAmounts([], stored({ couponsCents: 1, netCents: -1, taxCents: 0 }));
  expect([allowances, vat, totals.netCents, totals.allowancesCents, meet]).toEqual([[], [], -1, 0, false]);
});
