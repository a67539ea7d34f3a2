import { expect, test } from 'vitest';
import { type DraftInput, newDraft } from '../../../src/engine/invoices/draft.ts';
import { computeInvoice } from '../../../src/engine/invoices/invoice-steps.ts';
import { progressiveCredit } from '../../../src/engine/invoices/progressive-credit.ts';
import { type BilledFee, givenThrough, restsOfFees } from '../../../src/engine/invoices/progressive-rest.ts';
import { cents } from '../../../src/engine/money/cents.ts';
import { decimal, ZERO } from '../../../src/engine/money/decimal.ts';

const fee = (usageKey: string, amount: number, chargeId = 'charge') => ({
  key: `new-${usageKey}`,
  id: `progressive-${usageKey}`,
  chargeId,
  usageKey,
  amountCents: cents(amount),
  leftCents: decimal(amount),
  borneCents: cents(amount),
  noted: { partCents: ZERO, share: ZERO, taxesCents: ZERO, withheldCents: ZERO },
});

// progressive-billing.md#credit-in-steps.
test.each([
  ['all that is left', 3000, 5000, [3000, 0]],
  ['no more than the fees of its charges', 3000, 2000, [2000, 1000]],
  ['nothing when all is credited', 0, 5000, [0, 0]],
])('progressive invoices are credited: %s', (_name, left, now, [amount, excess]) => {
  const credit = progressiveCredit({ id: 'progressive', leftCents: decimal(left), fees: [fee('a', 3000)] }, [
    fee('a', now),
    fee('b', 700, 'another charge'),
  ]);
  expect([credit.amountCents, credit.excessCents]).toEqual([amount, excess]);
});

test('each fee is credited with what was billed for the same filter and group, at most its own amount', () => {
  const { shares } = progressiveCredit(
    { id: 'progressive', leftCents: decimal(300), fees: [fee('a', 200), fee('b', 100)] },
    [fee('a', 500), fee('b', 40), fee('c', 10)],
  );
  expect([...shares].map(([key, share]) => [key, share.toNumber()])).toEqual([
    ['new-a', 200],
    ['new-b', 40],
  ]);
});

test('fees whose usage has fallen are named, with how much', () => {
  const { fallen } = progressiveCredit(
    { id: 'progressive', leftCents: decimal(600), fees: [fee('a', 200), fee('b', 100), fee('c', 300)] },
    [fee('a', 500), fee('b', 40)],
  );
  expect([...fallen]).toEqual([
    ['progressive-b', 60],
    ['progressive-c', 300],
  ]);
});

const billed = (id: string, amountCents: number, changes: Partial<BilledFee> = {}): BilledFee => ({
  id,
  amountCents,
  preciseCouponsAmountCents: ZERO,
  untaxedAmountCents: ZERO,
  taxesRate: decimal(10),
  parts: [],
  ...changes,
});
const note = (feeId: string, item: number, net: number, taxesCents: number) => ({
  creditCents: net + taxesCents,
  taxesCents,
  totalCents: net + taxesCents,
  items: [{ feeId, preciseAmountCents: decimal(item) }],
});
const part = (feeId: string, partCents: number) => ({ feeId, partCents, creditCents: decimal(partCents) });

// 24.00, of which an invoice before had billed 12.00, both at 10 %.
const EARLIER = billed('progressive-a', 1200);
const NEWEST = billed('newest', 2400, {
  preciseCouponsAmountCents: decimal(1200),
  parts: [part('progressive-a', 1200)],
});
const GIVEN_BACK = note('newest', 2400, 1200, 120);

// progressive-billing.md#credit-in-steps, progressive-billing.md#taken-over.
test.each([
  ['5.00 that notes left', 500, [500, 0, 500]],
  ['less than notes left, which is given back', 300, [300, 200, 300]],
  ['4.00 of what notes gave back, whose tax is billed again', 900, [460, 0, 500]],
  ['all of it', 2400, [310, 0, 500]],
  ['more than ever was billed', 3000, [310, 0, 500]],
])('a month of two progressive invoices of which notes left 5.00 comes to %s', (_name, now, expected) => {
  const invoice = { fees: [NEWEST], notes: [GIVEN_BACK] };
  const earlier = { fees: [EARLIER], notes: [note('progressive-a', 700, 700, 70)] };
  const through = givenThrough(invoice.fees, [earlier]);
  expect([...through.values()].map((each) => Object.values(each).map(Number))).toEqual([[700, 700, 70]]);
  const rest = restsOfFees(invoice, [], through).get('newest')!;
  const fees = [{ ...fee('a', 2400), ...rest, id: 'newest' }];
  // 24.00 less 13.20 and 7.70.
  const credit = progressiveCredit({ id: 'newest', leftCents: decimal(310), fees }, [fee('a', now)]);
  const borne = [...credit.parts.values()].flat().reduce((sum, { partCents }) => sum + partCents, 0);
  expect([credit.amountCents, credit.excessCents, borne]).toEqual(expected);
});

test('what a note took of one fee instead of another is nothing that was taken over', () => {
  const [red, blue] = [billed('red', 1000), billed('blue', 1000)];
  // 4.00 of red were left to nobody, and the note took them of blue.
  const newest = [
    billed('new-red', 400, { parts: [part('red', 400)] }),
    billed('new-blue', 1200, { parts: [part('blue', 1000), part('red', 200)] }),
  ];
  const earlier = { fees: [red, blue], notes: [note('blue', 400, 400, 40)] };
  expect(givenThrough(newest, [earlier])).toEqual(new Map());
  const more = { fees: [red, blue], notes: [note('blue', 700, 700, 70)] };
  const through = [...givenThrough(newest, [more])].map(([key, { partCents, taxesCents }]) => [
    key,
    partCents.toNumber(),
    taxesCents.toNumber(),
  ]);
  expect(through).toEqual([['new-blue', 300, 30]]);
});

test('taxes apply to what is left of the fee after progressive credits', () => {
  const vat = { id: 't', code: 'vat', name: 'VAT', description: null, rate: decimal(20) };
  const input: DraftInput = {
    invoiceType: 'subscription',
    isFinalizing: true,
    keepsZeroAmount: true,
    fees: [{ key: 'new-a', amountCents: cents(5000), preciseAmountCents: decimal(5000), taxes: [vat] }],
    progressiveCredits: [
      progressiveCredit({ id: 'progressive', leftCents: decimal(3000), fees: [fee('a', 3000)] }, [fee('a', 5000)]),
    ],
  };
  const draft = computeInvoice(newDraft(input));
  expect(draft).toMatchObject({
    feesAmountCents: 5000,
    progressiveBillingCreditAmountCents: 3000,
    subTotalExcludingTaxesAmountCents: 2000,
    taxesAmountCents: 400,
    totalAmountCents: 2400,
  });
});
