import { describe, expect, test } from 'vitest';
import { cents, roundToCents } from '../../../src/engine/money/cents.ts';
import { decimal } from '../../../src/engine/money/decimal.ts';
import { chooseTaxes, type FeeType } from '../../../src/engine/taxes/choose-taxes.ts';
import type { Tax } from '../../../src/engine/taxes/tax.ts';
import { taxFee } from '../../../src/engine/taxes/tax-fee.ts';
import { type TaxedFee, taxInvoice } from '../../../src/engine/taxes/tax-invoice.ts';

const tax = (rate: number | string): Tax => ({
  id: `tax-${rate}`,
  code: `t${rate}`,
  name: 'VAT',
  description: null,
  rate,
});

const fee = (amount: number, rates: (number | string)[], coupon: string | number = 0): TaxedFee => ({
  amountCents: cents(amount),
  preciseAmountCents: decimal(amount),
  preciseCouponsAmountCents: decimal(coupon),
  taxes: rates.map(tax),
});

const invoice = (fees: TaxedFee[]) => {
  const subTotal = fees.reduce(
    (total, one) => total.plus(one.amountCents).minus(one.preciseCouponsAmountCents),
    decimal(0),
  );
  const result = taxInvoice(fees, roundToCents(subTotal));
  return {
    fees: fees.map((one) => taxFee(one, one.taxes).taxesAmountCents),
    taxes: result.taxesAmountCents,
    rate: result.taxesRate.toFixed(),
    applied: result.appliedTaxes.map((one) => [one.feesAmountCents, one.amountCents]),
  };
};

describe('which taxes apply to a fee (taxes.md#which-taxes-apply)', () => {
  const levels = {
    explicit: ['explicit'],
    own: ['own'],
    plan: ['plan'],
    customer: ['customer'],
    billingEntity: ['entity'],
  };

  test.each<[FeeType, string[]]>([
    ['subscription', ['plan', 'customer', 'entity']],
    ['charge', ['own', 'plan', 'customer', 'entity']],
    ['fixed_charge', ['own', 'plan', 'customer', 'entity']],
    ['commitment', ['own', 'plan', 'customer', 'entity']],
    ['add_on', ['explicit', 'own', 'customer', 'entity']],
    ['credit', []],
  ])('a %s fee takes its taxes from %s, in this order', (type, order) => {
    const asked: string[] = [];
    const left: Record<string, string[]> = { ...levels };
    for (;;) {
      const chosen = chooseTaxes(type, left as typeof levels);
      if (chosen.length === 0) break;
      asked.push(...chosen);
      const level = Object.keys(left).find((key) => left[key] === chosen)!;
      left[level] = [];
    }
    expect(asked).toEqual(order);
  });

  test('tax levels are never merged, and a fee without taxes at any level has none', () => {
    expect(chooseTaxes('charge', { own: ['a', 'b'], plan: ['c'], customer: ['d'], billingEntity: [] })).toEqual([
      'a',
      'b',
    ]);
    expect(chooseTaxes('charge', { customer: [], billingEntity: [] })).toEqual([]);
  });
});

describe('tax amounts (taxes.md#computation)', () => {
  test('three fees of 33 at 20 % are taxed (golden case 4)', () => {
    expect(invoice([fee(33, [20]), fee(33, [20]), fee(33, [20])])).toEqual({
      fees: [7, 7, 7],
      taxes: 20,
      rate: '20',
      applied: [[99, 20]],
    });
  });

  test('two fees at 10 % and 20 %, one with a coupon of 25000, are taxed', () => {
    expect(invoice([fee(17900, [10]), fee(39900, [20], 25000)])).toEqual({
      fees: [1790, 2980],
      taxes: 4770,
      rate: '14.54268',
      applied: [
        [17900, 1790],
        [14900, 2980],
      ],
    });
  });

  test('two taxes apply to one fee (golden case 5)', () => {
    expect(invoice([fee(10000, [20, 10])])).toEqual({
      fees: [3000],
      taxes: 3000,
      rate: '30',
      applied: [
        [10000, 2000],
        [10000, 1000],
      ],
    });
    const { appliedTaxes, taxesRate } = taxFee(fee(10000, [20, 10]), [tax(20), tax(10)]);
    expect(appliedTaxes.map((one) => one.amountCents)).toEqual([2000, 1000]);
    expect(taxesRate.toFixed()).toBe('30');
  });

  test('two fees have different taxes (golden case 6)', () => {
    expect(invoice([fee(5000, [20]), fee(3000, [10])])).toMatchObject({ taxes: 1300, rate: '16.25' });
  });

  test('shares of a coupon are subtracted before taxes (golden case 7)', () => {
    const fees = [fee(10000, [10], 500), fee(5000, [0], 250), fee(3000, [20], 150), fee(2000, [20], 100)];
    expect(invoice(fees)).toMatchObject({ fees: [950, 0, 570, 380], taxes: 1900 });
  });

  test('tax rates of an invoice without amount are weighted by the number of fees (golden case 8)', () => {
    expect(invoice([fee(0, [20]), fee(0, [])])).toMatchObject({ taxes: 0, rate: '10' });
  });

  test('a fee discounted to zero keeps its tax rate (golden case 9)', () => {
    expect(invoice([fee(10000, [10], 10000)])).toMatchObject({ fees: [0], taxes: 0, rate: '10' });
  });

  test('shares of a coupon with decimals are taxed (golden case 19)', () => {
    expect(invoice([fee(999, [19], '125.25'), fee(333, [19], '41.75')])).toMatchObject({ fees: [166, 55], taxes: 221 });
  });

  test('an untaxed fee lowers the average tax rate', () => {
    expect(invoice([fee(1000, [20]), fee(500, [])])).toMatchObject({ taxes: 200, rate: '13.33333' });
  });

  test('an invoice without fees has no taxes', () => {
    expect(invoice([])).toEqual({ fees: [], taxes: 0, rate: '0', applied: [] });
  });

  test('the precise tax is computed from the precise amount with 15 decimals', () => {
    const given = { ...fee(871, [20]), preciseAmountCents: decimal('870.967741935483871') };
    const { taxesAmountCents, taxesPreciseAmountCents } = taxFee(given, given.taxes);
    expect([taxesAmountCents, taxesPreciseAmountCents.toFixed()]).toEqual([174, '174.193548387096774']);
  });
});
