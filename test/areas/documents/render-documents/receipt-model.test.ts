import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import type { Printed } from '../../../../src/areas/documents/render-documents/printed-invoice.ts';
import { type ReceiptParts, receiptModel } from '../../../../src/areas/documents/render-documents/receipt-model.ts';
import { languageOf } from '../../../../src/areas/messaging/documents/texts/by-locale.ts';
import { draw } from '../../../../src/platform/documents/draw.ts';

// The document of a payment receipt: payments.md#receipts.
const LOCALES = ['de', 'en', 'es', 'fr', 'it', 'nb', 'pt-BR', 'sv', 'zh-TW'];
const day = (text: string) => Temporal.PlainDate.from(text);
const address = {
  address_line1: '1 rue A',
  address_line2: null,
  city: 'Paris',
  state: null,
  zipcode: '75001',
  country: 'FR',
  email: null,
  phone: null,
  legal_number: null,
  tax_identification_number: null,
};
const printed = {
  issuer: {
    ...address,
    name: 'Acme',
    legal_name: 'Acme SAS',
    invoice_footer: 'Share capital 1',
    document_locale: 'en',
  },
  customer: {
    ...address,
    name: 'Ada GmbH',
    legal_name: null,
    firstname: null,
    lastname: null,
    external_id: 'ada',
    shipping_address: { ...address, address_line1: null, city: null, zipcode: null, country: null },
    metadata: [],
  },
  logo_url: null,
  customer_locale: null,
} as unknown as Printed;

const parts = {
  receipt: { number: 'ACM-0001-001-RCPT-000007' },
  payment: {
    amount_cents: 20000,
    amount_currency: 'EUR',
    reference: 'bank 7',
    provider_payment_id: 'pi_1',
    is_transfer: false,
    created_at: Temporal.Instant.from('2026-04-30T22:30:00Z'),
  },
  method: null,
  shares: [
    {
      invoice_number: 'ACM-0001-001-001',
      issuing_date: day('2026-04-01'),
      total_amount_cents: 12000,
      amount_cents: 12000,
    },
    {
      invoice_number: 'ACM-0001-001-002',
      issuing_date: day('2026-04-02'),
      total_amount_cents: 9000,
      amount_cents: 3000,
    },
  ],
  invoice: { invoice: { timezone: 'Europe/Paris', self_billed: false }, customer: {} },
} as unknown as ReceiptParts;

test('a receipt shows who paid what and when, for which invoices, and what was left over', () => {
  const model = receiptModel(parts, printed, languageOf('en', null));
  expect([model.title, model.number]).toEqual(['Payment receipt', 'ACM-0001-001-RCPT-000007']);
  expect(model.facts).toEqual([
    { label: 'Payment receipt', value: 'ACM-0001-001-RCPT-000007' },
    { label: 'Paid on', value: 'May 1, 2026' },
    { label: 'Reference', value: 'bank 7' },
  ]);
  expect(model.headline).toEqual({ text: '€200.00 paid', note: 'Paid on May 1, 2026' });
  expect(model.columns.map(({ label }) => label)).toEqual(['Invoice number', 'Invoice date', 'Total', 'Amount']);
  expect(model.tables[0]!.rows.map(({ cells }) => cells)).toEqual([
    ['ACM-0001-001-001', 'Apr 1, 2026', '€120.00', '€120.00'],
    ['ACM-0001-001-002', 'Apr 2, 2026', '€90.00', '€30.00'],
    ['Not applied to an invoice', '', '', '€50.00'],
  ]);
  expect(model.totals).toEqual([{ label: 'Total', value: '€200.00', kind: 'grand' }]);
  expect(model.notes).toEqual([]);
});

test.each([
  [{ method_type: 'card', details: { brand: 'visa', last4: '4242' } }, false, 'Visa •••• 4242'],
  [{ method_type: 'sepa_debit', details: { last4: '3000' } }, false, 'Bank debit SEPA •••• 3000'],
  [null, true, 'Bank transfer'],
])('a receipt says how it was paid, and not the number that a provider has for it: %o', (method, isTransfer, means) => {
  const payment = { ...parts.payment, reference: null, is_transfer: isTransfer };
  const paid = { ...parts, payment, method } as ReceiptParts;
  expect(receiptModel(paid, printed, languageOf('en', null)).facts.slice(2)).toEqual([
    { label: 'Paid with', value: means },
  ]);
});

test.each(LOCALES)('a receipt in %s has every word, filled in, and can be drawn', async (locale) => {
  const model = receiptModel(parts, printed, languageOf(locale, null));
  expect(JSON.stringify(model)).not.toMatch(/\{(amount|date)\}|undefined/);
  const pdf = Buffer.from((await draw(model, null)).bytes);
  expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
});
