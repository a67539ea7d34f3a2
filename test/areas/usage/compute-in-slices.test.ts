import { expect, test } from 'vitest';
import { computeInSlices } from '../../../src/areas/usage/usage/compute-in-slices.ts';
import { newDraft } from '../../../src/engine/invoices/draft.ts';
import { computeInvoice } from '../../../src/engine/invoices/invoice-steps.ts';
import { cents } from '../../../src/engine/money/cents.ts';
import { decimal } from '../../../src/engine/money/decimal.ts';

// everywhere.md#bounded-cost: an invoice of 20 000 fees is computed in pieces, none of them of more than some fees.
const FEES = 2000;
const taxes = [
  { id: 'a', code: 'vat', name: 'VAT', description: null, rate: decimal(20) },
  { id: 'b', code: 'city', name: 'City', description: null, rate: decimal('2.5') },
];
const draft = () =>
  newDraft({
    invoiceType: 'subscription',
    isFinalizing: false,
    keepsZeroAmount: true,
    fees: Array.from({ length: FEES }, (_, n) => ({
      key: `fee ${n}`,
      amountCents: cents((n * 7919) % 1009),
      preciseAmountCents: decimal(`${(n * 7919) % 1009}.4`),
      taxes: n % 3 === 0 ? taxes : taxes.slice(1),
    })),
    progressiveCredits: [
      {
        invoiceId: 'i',
        amountCents: cents(33),
        shares: new Map([['fee 3', decimal('33.3')]]),
        parts: new Map(),
      } as never,
    ],
  });

test('an invoice computed in pieces equals the whole one, with a pause after each fee of the expensive steps', async () => {
  let pauses = 0;
  const inPieces = await computeInSlices(draft(), () => {
    pauses += 1;
    return undefined;
  });
  expect(inPieces).toEqual(computeInvoice(draft()));
  expect(inPieces.taxesAmountCents).toBeGreaterThan(0);
  expect(pauses).toBeGreaterThanOrEqual(2 * FEES);
});
