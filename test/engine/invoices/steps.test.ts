import { describe, expect, test } from 'vitest';
import { type DraftInput, newDraft } from '../../../src/engine/invoices/draft.ts';
import {
  canInvoiceMove,
  INVOICE_STATUSES,
  VISIBLE_INVOICE_STATUSES,
} from '../../../src/engine/invoices/invoice-states.ts';
import { computeInvoice } from '../../../src/engine/invoices/invoice-steps.ts';
import { keepsZeroAmount } from '../../../src/engine/invoices/zero-amount.ts';
import { cents } from '../../../src/engine/money/cents.ts';
import { decimal } from '../../../src/engine/money/decimal.ts';

const VAT = { id: 'vat', code: 'vat', name: 'VAT', description: null, rate: 20 };

const fee = (key: string, amount: number, taxes = [VAT]) => ({
  key,
  amountCents: cents(amount),
  preciseAmountCents: decimal(amount),
  taxes,
});

const compute = (fees: DraftInput['fees'], changes: Partial<DraftInput> = {}) =>
  computeInvoice(
    newDraft({ invoiceType: 'subscription', isFinalizing: true, keepsZeroAmount: true, ...changes, fees }),
  );

describe('computation of an invoice (invoice-amounts.md#order-of-computation, invoice-amounts.md#amounts)', () => {
  test('the worked example without coupon and credit has its amounts', () => {
    expect(compute([fee('subscription', 10000), fee('charge', 5000)])).toMatchObject({
      feesAmountCents: 15000,
      progressiveBillingCreditAmountCents: 0,
      couponsAmountCents: 0,
      subTotalExcludingTaxesAmountCents: 15000,
      taxesAmountCents: 3000,
      subTotalIncludingTaxesAmountCents: 18000,
      creditNotesAmountCents: 0,
      prepaidCreditAmountCents: 0,
      totalAmountCents: 18000,
      paymentStatus: 'pending',
      status: 'finalized',
    });
  });

  test('with coupons and credits the same steps give 6000 (G65)', () => {
    const draft = newDraft({
      invoiceType: 'subscription',
      isFinalizing: true,
      keepsZeroAmount: true,
      fees: [fee('subscription', 10000), fee('charge', 5000)],
    });
    const [subscription, charge] = draft.fees;
    const result = computeInvoice({
      ...draft,
      fees: [
        { ...subscription!, preciseCouponsAmountCents: decimal(2000) },
        { ...charge!, preciseCouponsAmountCents: decimal(3400) },
      ],
      progressiveBillingCreditAmountCents: cents(3000),
      couponsAmountCents: cents(2400),
      creditNotesAmountCents: cents(1520),
      prepaidCreditAmountCents: cents(4000),
    });
    expect(result.subTotalExcludingTaxesAmountCents).toBe(9600);
    expect(result.fees.map((one) => one.taxesAmountCents)).toEqual([1600, 320]);
    expect(result.taxesAmountCents).toBe(1920);
    expect(result.subTotalIncludingTaxesAmountCents).toBe(11520);
    expect(result.totalAmountCents).toBe(6000);
  });

  test('three fees of 33 at 20 % make 119 (G66)', () => {
    const result = compute([fee('a', 33), fee('b', 33), fee('c', 33)]);
    expect(result.fees.map((one) => one.taxesAmountCents)).toEqual([7, 7, 7]);
    expect([result.taxesAmountCents, result.totalAmountCents]).toEqual([20, 119]);
  });

  test('a fee of 194 has 39 of tax at 20 % (G29)', () => {
    expect(compute([fee('subscription', 194)])).toMatchObject({ taxesAmountCents: 39, totalAmountCents: 233 });
  });

  test('two taxes of one fee are added up (G77)', () => {
    const taxes = [VAT, { ...VAT, id: 'local', code: 'local', rate: 10 }];
    expect(compute([fee('one-off', 10000, taxes)], { invoiceType: 'one_off' }).totalAmountCents).toBe(13000);
  });

  test('a fee of 1000 at 20 % and an untaxed one of 500 are totaled', () => {
    const result = compute([fee('a', 1000), fee('b', 500, [])]);
    expect([result.taxesAmountCents, result.taxesRate.toFixed()]).toEqual([200, '13.33333']);
  });

  test('fees keep their keys and order through all steps', () => {
    expect(compute([fee('b', 1), fee('a', 2)]).fees.map((one) => one.key)).toEqual(['b', 'a']);
  });
});

describe('what becomes of the invoice (invoices.md#statuses, invoices.md#zero-amounts)', () => {
  test.each<[string, number, Partial<DraftInput>, string, string]>([
    ['with fees it is final', 100, {}, 'finalized', 'pending'],
    ['with fees in its grace period it is a draft', 100, { isFinalizing: false }, 'draft', 'pending'],
    ['without fees it is final where zero invoices are kept', 0, {}, 'finalized', 'succeeded'],
    [
      'without fees it is closed where zero invoices are suppressed (G68)',
      0,
      { keepsZeroAmount: false },
      'closed',
      'succeeded',
    ],
    [
      'without fees in its grace period it is a draft',
      0,
      { keepsZeroAmount: false, isFinalizing: false },
      'draft',
      'succeeded',
    ],
    [
      'without fees it is final when credits were bought',
      0,
      { keepsZeroAmount: false, invoiceType: 'credit' },
      'finalized',
      'succeeded',
    ],
    [
      'without fees it is final when billed progressively',
      0,
      { keepsZeroAmount: false, invoiceType: 'progressive_billing' },
      'finalized',
      'succeeded',
    ],
    [
      'with gathered fees that are paid it is final and paid',
      100,
      { invoiceType: 'advance_charges' },
      'finalized',
      'succeeded',
    ],
  ])('a computed invoice gets its status: %s', (_name, amount, changes, status, paymentStatus) => {
    expect(compute([fee('a', amount)], changes)).toMatchObject({ status, paymentStatus });
  });

  test('fees discounted to zero are finalized, even where zero invoices are suppressed (G67)', () => {
    const draft = newDraft({
      invoiceType: 'subscription',
      isFinalizing: true,
      keepsZeroAmount: false,
      fees: [fee('a', 5000)],
    });
    const fees = draft.fees.map((one) => ({ ...one, preciseCouponsAmountCents: decimal(5000) }));
    expect(computeInvoice({ ...draft, fees, couponsAmountCents: cents(5000) })).toMatchObject({
      totalAmountCents: 0,
      taxesAmountCents: 0,
      status: 'finalized',
      paymentStatus: 'succeeded',
    });
  });

  test.each([
    ['inherit', 'keeps', 'kept'],
    ['inherit', 'skips', 'skipped'],
    ['finalize', 'skips', 'kept'],
    ['skip', 'keeps', 'skipped'],
  ] as const)(
    'with customer setting %s and a billing entity that %s zero invoices one is %s',
    (customer, entity, result) => {
      expect(keepsZeroAmount(customer, entity === 'keeps')).toBe(result === 'kept');
    },
  );
});

const ALLOWED = [
  'generating → draft',
  'generating → finalized',
  'generating → closed',
  'generating → open',
  'generating → pending',
  'draft → finalized',
  'draft → closed',
  'draft → pending',
  'draft → deleted',
  'pending → finalized',
  'pending → closed',
  'pending → failed',
  'failed → pending',
  'failed → open',
  'open → finalized',
  'open → closed',
  'finalized → voided',
];
const pairs = INVOICE_STATUSES.flatMap((from) =>
  INVOICE_STATUSES.map((to) => [ALLOWED.includes(`${from} → ${to}`) ? 'may' : 'must not', from, to] as const),
);

test.each(pairs)('an invoice %s move from %s to %s', (verdict, from, to) => {
  expect(canInvoiceMove(from, to)).toBe(verdict === 'may');
});

test('the API shows five of the statuses', () => {
  expect(VISIBLE_INVOICE_STATUSES.toSorted()).toEqual(['draft', 'failed', 'finalized', 'pending', 'voided']);
});
