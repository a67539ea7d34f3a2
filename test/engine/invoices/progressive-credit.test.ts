import { expect, test } from 'vitest';
import { type DraftInput, newDraft } from '../../../src/engine/invoices/draft.ts';
import { computeInvoice } from '../../../src/engine/invoices/invoice-steps.ts';
import { progressiveCredit } from '../../../src/engine/invoices/progressive-credit.ts';
import { cents } from '../../../src/engine/money/cents.ts';
import { decimal } from '../../../src/engine/money/decimal.ts';

const fee = (usageKey: string, amount: number, chargeId = 'charge') => ({
  key: `new-${usageKey}`,
  id: `progressive-${usageKey}`,
  chargeId,
  usageKey,
  amountCents: cents(amount),
  leftCents: decimal(amount),
  borneCents: cents(amount),
});

// progressive-billing.md#credit-in-steps.
test.each([
  ['all that is left', 3000, 5000, [3000, 0]],
  ['no more than the fees of its charges', 3000, 2000, [2000, 1000]],
  ['nothing when all is credited', 0, 5000, [0, 0]],
])('progressive invoices are credited: %s', (_name, left, now, [amount, excess]) => {
  const credit = progressiveCredit({ id: 'progressive', leftCents: cents(left), fees: [fee('a', 3000)] }, [
    fee('a', now),
    fee('b', 700, 'another charge'),
  ]);
  expect([credit.amountCents, credit.excessCents]).toEqual([amount, excess]);
});

test('each fee is credited with what was billed for the same filter and group, at most its own amount', () => {
  const { shares } = progressiveCredit(
    { id: 'progressive', leftCents: cents(300), fees: [fee('a', 200), fee('b', 100)] },
    [fee('a', 500), fee('b', 40), fee('c', 10)],
  );
  expect([...shares].map(([key, share]) => [key, share.toNumber()])).toEqual([
    ['new-a', 200],
    ['new-b', 40],
  ]);
});

test('fees whose usage has fallen are named, with how much', () => {
  const { fallen } = progressiveCredit(
    { id: 'progressive', leftCents: cents(600), fees: [fee('a', 200), fee('b', 100), fee('c', 300)] },
    [fee('a', 500), fee('b', 40)],
  );
  expect([...fallen]).toEqual([
    ['progressive-b', 60],
    ['progressive-c', 300],
  ]);
});

test('taxes apply to what is left of the fee after progressive credits', () => {
  const vat = { id: 't', code: 'vat', name: 'VAT', description: null, rate: decimal(20) };
  const input: DraftInput = {
    invoiceType: 'subscription',
    isFinalizing: true,
    keepsZeroAmount: true,
    fees: [{ key: 'new-a', amountCents: cents(5000), preciseAmountCents: decimal(5000), taxes: [vat] }],
    progressiveCredits: [
      progressiveCredit({ id: 'progressive', leftCents: cents(3000), fees: [fee('a', 3000)] }, [fee('a', 5000)]),
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
