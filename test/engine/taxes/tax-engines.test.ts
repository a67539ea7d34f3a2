import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { noteAmounts } from '../../../src/engine/credits/credit-note-amounts.ts';
import { newDraft } from '../../../src/engine/invoices/draft.ts';
import { computeInvoice } from '../../../src/engine/invoices/invoice-steps.ts';
import { cents, sumCents } from '../../../src/engine/money/cents.ts';
import { decimal } from '../../../src/engine/money/decimal.ts';
import type { AnsweredLine, AnsweredTax } from '../../../src/engine/taxes/provider/answer.ts';
import { type CollectedFeeTax, collectedFeeTaxes } from '../../../src/engine/taxes/provider/collect-taxes.ts';
import { linesToSend } from '../../../src/engine/taxes/provider/lines-to-send.ts';
import { nameTaxes } from '../../../src/engine/taxes/provider/name-taxes.ts';

const amounts = (amount: number, coupon: string | number = 0) => ({
  amountCents: cents(amount),
  preciseAmountCents: decimal(amount),
  preciseCouponsAmountCents: decimal(coupon),
});

const tax = (jurisdiction: string, rate: string, amount: string, name = 'Tax'): AnsweredTax => ({
  jurisdiction,
  name,
  rate: decimal(rate),
  amountCents: decimal(amount),
});

const line = (key: string, collectedCents: number, ...taxes: AnsweredTax[]): AnsweredLine => ({
  key,
  collectedCents,
  taxes,
  notTaxed: null,
});

/** An invoice of fees without coupons that an engine has answered. */
function taxed(fees: readonly number[], answer: readonly AnsweredLine[]) {
  const named = new Map(nameTaxes(answer).map((each) => [each.key, each]));
  return computeInvoice(
    newDraft({
      invoiceType: 'subscription',
      isFinalizing: true,
      keepsZeroAmount: true,
      fees: fees.map((amount, index) => ({
        key: String(index),
        amountCents: cents(amount),
        preciseAmountCents: decimal(amount),
        taxes: [],
        collected: { netCents: amount, ...named.get(String(index))! },
      })),
    }),
  );
}

const shown = (applied: CollectedFeeTax) => ({
  code: applied.tax.code,
  rate: String(applied.tax.rate),
  cents: applied.amountCents,
  baseRate: applied.baseRate.toFixed(),
});

describe('what is sent to an engine (tax-engines.md#what-is-sent)', () => {
  test('the net total is spread over the fees: a coupon of 25000 on 39900 leaves lines of 17900 and 14900 (FI28)', () => {
    const fees = [
      { key: 'first', ...amounts(17900) },
      { key: 'second', ...amounts(39900, 25000) },
    ];
    expect(linesToSend(fees, cents(32800))).toEqual([
      { key: 'first', netCents: 17900 },
      { key: 'second', netCents: 14900 },
    ]);
  });

  test('a fee with nothing to tax has no line', () => {
    const fees = [
      { key: 'free', ...amounts(0) },
      { key: 'paid', ...amounts(500) },
      { key: 'discounted', ...amounts(300, 300) },
    ];
    expect(linesToSend(fees, cents(500))).toEqual([{ key: 'paid', netCents: 500 }]);
  });

  test('the lines sum to the net total, whatever share of a coupon each fee has', () => {
    const fees = fc.array(
      fc.record({ amount: fc.integer({ min: 0, max: 10 ** 9 }), off: fc.integer({ min: 0, max: 100_000 }) }),
      { minLength: 1, maxLength: 40 },
    );
    fc.assert(
      fc.property(fees, fc.integer({ min: 0, max: 10 ** 12 }), (given, netTotal) => {
        const lines = linesToSend(
          given.map(({ amount, off }, index) => ({
            key: String(index),
            ...amounts(amount, decimal(amount).times(off).div(100_000).toFixed(5)),
          })),
          cents(netTotal),
        );
        expect(sumCents(lines.map(({ netCents }) => netCents))).toBe(netTotal);
      }),
    );
  });
});

describe('what an answer becomes (tax-engines.md#what-the-answer-becomes)', () => {
  test('a local tax of 4.81 % on 15000 is 721.5 exactly, and 722 are collected on the whole base (FI26)', () => {
    const draft = taxed([15000], [line('0', 722, tax('Denver (local)', '0.0481', '721.5'))]);
    const [fee] = draft.fees;
    expect(fee!.taxesAmountCents).toBe(722);
    expect(fee!.taxesPreciseAmountCents.toFixed()).toBe('721.5');
    expect(fee!.appliedTaxes.map((each) => shown(each as CollectedFeeTax))).toEqual([
      { code: 'denver_local_tax', rate: '4.81', cents: 722, baseRate: '1' },
    ]);
    expect(draft.totalAmountCents).toBe(15722);
  });

  const allLeft = (netCents: number, taxesCents: number) => ({
    net: { cents: cents(netCents), isTaken: true },
    taxes: { cents: cents(taxesCents), isTaken: true },
  });

  test('two notes of 7500 each give back 361 of the 722 that were collected (FI26)', () => {
    const fee = {
      ...amounts(15000),
      taxes: [{ id: null, code: 'local', name: 'Local', description: null, rate: '4.81', baseRate: decimal(1) }],
    };
    const item = { fee, preciseAmountCents: decimal(7500) };
    const first = noteAmounts([item]);
    expect([first.preciseTaxesAmountCents.toFixed(), first.taxesAmountCents]).toEqual(['360.75', 361]);
    const second = noteAmounts([item], [first], allLeft(7500, 722 - first.taxesAmountCents));
    expect(second.taxesAmountCents).toBe(361);
  });

  test('8.25 % on 80 % of 10000 is 660, of a taxable base of 8000 (FI27)', () => {
    const draft = taxed([10000], [line('0', 660, tax('Texas', '0.0825', '660'))]);
    expect(draft.fees[0]!.appliedTaxes.map((each) => shown(each as CollectedFeeTax))).toEqual([
      { code: 'texas_tax', rate: '8.25', cents: 660, baseRate: '0.8' },
    ]);
    expect(draft.appliedTaxes[0]).toMatchObject({
      feesAmountCents: 10000,
      taxableBaseAmountCents: 8000,
      amountCents: 660,
    });
  });

  test('a note of half a fee that was taxed on 80 % of its amount gives back half of the tax', () => {
    const fee = {
      ...amounts(10000),
      taxes: [{ id: null, code: 'tx', name: 'Texas', description: null, rate: '8.25', baseRate: decimal('0.8') }],
    };
    const note = noteAmounts([{ fee, preciseAmountCents: decimal(5000) }]);
    expect([note.taxesAmountCents, note.appliedTaxes[0]!.baseAmountCents]).toEqual([330, 4000]);
  });

  test('three lines of 3333 for which 296 each are collected are taxed 888, not 887 (FI31)', () => {
    const answer = ['0', '1', '2'].map((key) => line(key, 296, tax('New York', '0.08875', '295.80375')));
    const draft = taxed([3333, 3333, 3333], answer);
    expect(draft.fees.map((fee) => fee.taxesAmountCents)).toEqual([296, 296, 296]);
    expect(draft.taxesAmountCents).toBe(888);
    expect(draft.appliedTaxes.map(({ feesAmountCents, amountCents }) => [feesAmountCents, amountCents])).toEqual([
      [9999, 888],
    ]);
  });

  test('a note over everything gives back the 888 that were collected (FI31)', () => {
    const fee = {
      ...amounts(3333),
      taxes: [{ id: null, code: 'ny', name: 'NY', description: null, rate: '8.875', baseRate: decimal(1) }],
    };
    const item = { fee, preciseAmountCents: decimal(3333) };
    expect(noteAmounts([item, item, item], [], allLeft(9999, 888)).taxesAmountCents).toBe(888);
  });

  test('collected cents are spread over the taxes of a line by their exact amounts', () => {
    const [named] = nameTaxes([
      line('0', 83, tax('Texas', '0.0625', '62.5'), tax('Hill County', '0.005', '5'), tax('Aquilla', '0.015', '15')),
    ]);
    const result = collectedFeeTaxes({ netCents: 1000, ...named! });
    expect(result.appliedTaxes.map(({ amountCents }) => amountCents)).toEqual([63, 5, 15]);
    expect(result.taxesRate.toFixed()).toBe('8.25');
  });

  test('a line that is not taxed has one tax of rate 0 with the reason, and so has an invoice of such lines', () => {
    const notTaxed = (key: string): AnsweredLine => ({ ...line(key, 0), notTaxed: 'reverse_charge' });
    const draft = taxed([1000, 2000], [notTaxed('0'), notTaxed('1')]);
    expect(draft.taxesAmountCents).toBe(0);
    expect(
      draft.appliedTaxes.map(({ tax: { code, name, rate, description }, feesAmountCents }) => ({
        code,
        name,
        rate: String(rate),
        description,
        feesAmountCents,
      })),
    ).toEqual([
      {
        code: 'reverse_charge',
        name: 'Reverse charge',
        rate: '0',
        description: 'reverse_charge',
        feesAmountCents: 3000,
      },
    ]);
  });

  test('the same tax has one code on all lines; another rate or spelling gets a number behind it', () => {
    const named = nameTaxes([
      line('0', 1, tax('Texas', '0.0625', '1')),
      line('1', 1, tax('Texas', '0.0625', '1')),
      line('2', 1, tax('Texas', '0.05', '1')),
      line('3', 1, tax('TEXAS', '0.0625', '1', 'tax')),
      line('4', 1, tax('x'.repeat(300), '0.1', '1')),
      line('5', 1, tax('x'.repeat(300), '0.2', '1')),
    ]);
    const codes = named.map(({ taxes }) => taxes[0]!.code);
    expect(codes.slice(0, 4)).toEqual(['texas_tax', 'texas_tax', 'texas_tax_2', 'texas_tax_3']);
    expect(codes.slice(4).map((code) => code.length)).toEqual([100, 100]);
    expect(codes[5]!.endsWith('_2')).toBe(true);
  });

  const taxes = fc.array(
    fc.record({ rate: fc.integer({ min: 0, max: 3000 }), amount: fc.integer({ min: 0, max: 10 ** 9 }) }),
    { maxLength: 5 },
  );
  const lines = fc.array(
    fc.record({ net: fc.integer({ min: 1, max: 10 ** 9 }), collected: fc.integer({ min: 0, max: 10 ** 8 }), taxes }),
    { minLength: 1, maxLength: 20 },
  );

  test('the taxes of the fees sum to the tax of the invoice, and no cent of a line is lost', () => {
    fc.assert(
      fc.property(lines, (given) => {
        const answer = given.map(
          (each, index): AnsweredLine =>
            line(
              String(index),
              each.collected,
              ...each.taxes.map(({ rate, amount }, position) =>
                tax(`Place ${position}`, decimal(rate).div(10_000).toFixed(), decimal(amount).div(100).toFixed()),
              ),
            ),
        );
        const draft = taxed(
          given.map(({ net }) => net),
          answer,
        );
        const collected = given.reduce((total, each) => total + each.collected, 0);
        expect(draft.taxesAmountCents).toBe(collected);
        expect(sumCents(draft.appliedTaxes.map(({ amountCents }) => amountCents))).toBe(collected);
        for (const [index, fee] of draft.fees.entries())
          expect(sumCents(fee.appliedTaxes.map(({ amountCents }) => amountCents))).toBe(given[index]!.collected);
      }),
    );
  });
});
