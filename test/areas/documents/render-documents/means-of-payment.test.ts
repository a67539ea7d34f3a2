import { expect, test } from 'vitest';
import {
  type Charge,
  type ChargeSources,
  chargeOf,
} from '../../../../src/areas/documents/render-documents/e-documents/charge-of-invoice.ts';
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
const method = { provider: 'gocardless', type: 'sepa_debit', mandate_reference: 'MD123', last4: '3000' };
const card = { provider: 'stripe', type: 'card', mandate_reference: null, last4: '4242' };
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
    'a mandate without the reference that the payer signed is not named',
    'gocardless',
    'DE98ZZZ09999999999',
    { is_manual: false, method: { ...method, mandate_reference: null } },
    { code: '1', reference: 'A-1' },
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

const none = { type: null, id: null };
const stored = [
  { ...card, id: 'default', is_default: true },
  { ...method, id: 'own', is_default: false },
];

test.each([
  ['nothing is wished: the default pays', [none, null], false, 'card'],
  ['the subscription is paid by hand', [none, { type: 'manual', id: null }], true, undefined],
  ['the subscription names its own method', [none, { type: 'provider', id: 'own' }], false, 'sepa_debit'],
  [
    'the invoice comes before the subscription',
    [
      { type: 'manual', id: null },
      { type: null, id: 'own' },
    ],
    true,
    undefined,
  ],
  ['a discarded method leaves the default', [none, { type: null, id: 'gone' }], false, 'card'],
])('an invoice is charged as its collection does it: %s', (_what, wishes, isManual, type) => {
  const charge = chargeOf({ skip_psp: false, wishes, methods: stored } as unknown as ChargeSources);
  expect([charge.is_manual, charge.method?.type]).toEqual([isManual, type]);
});

test('an invoice that no provider may charge is paid by hand', () => {
  const charge = chargeOf({ skip_psp: true, wishes: [none], methods: stored } as unknown as ChargeSources);
  expect(charge).toEqual({ is_manual: true, method: null });
});
