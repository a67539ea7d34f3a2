import { expect, test } from 'vitest';
import type { Charge } from '../../../../src/areas/documents/render-documents/e-documents/charge-of-invoice.ts';
import {
  paymentOf,
  type StatedRecords,
} from '../../../../src/areas/documents/render-documents/e-documents/stated-parties.ts';

// Rule: docs/rules/e-documents.md "facts", BG-16.
const records = (payment_provider: string | null, creditor_id: string | null = null) =>
  ({
    issuer: {
      name: 'Muster GmbH',
      e_invoicing: { creditor_id },
      bank_accounts: [{ iban: 'DE89370400440532013000', bic: null, holder: null, currency: null }],
    },
    payer: { name: 'Client SA', payment_provider },
  }) as unknown as StatedRecords;

const unknown: Charge = { is_manual: false, method: null };
const method = { provider: 'gocardless', type: 'sepa_debit', reference: 'MD123', last4: '3000' };
const card = { provider: 'stripe', type: 'card', reference: 'pm_1', last4: '4242' };
const invoice = { number: 'A-1', currency: 'EUR', isOrdinary: true };
const account = { id: 'DE89370400440532013000', bic: null, holder: null };

test.each([
  ['a customer without a provider transfers', null, null, unknown, { code: '58', reference: 'A-1', account }],
  ['one whom a provider charges is asked for no transfer', 'stripe', null, unknown, { code: '1', reference: 'A-1' }],
  ['a card has no mandate', 'stripe', null, { is_manual: false, method: card }, { code: '1', reference: 'A-1' }],
  [
    'a mandate is named with its creditor',
    'gocardless',
    'DE98ZZZ09999999999',
    { is_manual: false, method },
    { code: '59', reference: 'A-1', mandate: 'MD123', creditorId: 'DE98ZZZ09999999999', debitedAccount: '3000' },
  ],
  [
    'one who pays this invoice by hand transfers',
    'gocardless',
    null,
    { is_manual: true, method },
    { code: '58', reference: 'A-1', account },
  ],
])('%s', (_what, provider, creditor, charge, expected) => {
  expect(paymentOf(records(provider, creditor), { ...invoice, charge })).toEqual(expected);
});

test('a note names no account, and neither does a seller without one', () => {
  expect(paymentOf(records(null), { ...invoice, isOrdinary: false, charge: unknown })).toEqual({
    code: '1',
    reference: 'A-1',
  });
  const bare = { issuer: { name: 'A', bank_accounts: [] }, payer: { name: 'B' } } as unknown as StatedRecords;
  expect(paymentOf(bare, { ...invoice, charge: unknown })).toBeNull();
});
