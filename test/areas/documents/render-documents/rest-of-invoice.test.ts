import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import type { NotedSums } from '../../../../src/areas/credits/credit-notes/queries.ts';
import { restOfInvoice } from '../../../../src/areas/documents/render-documents/rest-of-invoice.ts';
import type { InvoiceParts } from '../../../../src/areas/invoices/invoices/view.ts';

// Rule: docs/rules/e-documents.md "cancellations".
const parts = {
  invoice: {
    number: 'A-1',
    issuing_date: Temporal.PlainDate.from('2026-03-01'),
    voided_at: Temporal.Instant.from('2026-03-31T22:30:00Z'),
    timezone: 'Europe/Berlin',
    currency: 'EUR',
    purchase_order_number: null,
    self_billed: false,
    sub_total_excluding_taxes_amount_cents: 13_500,
    taxes_amount_cents: 2565,
    applied_taxes: [{ tax_name: 'USt', tax_rate: 19, fees_amount_cents: 13_500, amount_cents: 2565 }],
  },
  fees: [
    { id: 'f1', amount_cents: 10_000 },
    { id: 'f2', amount_cents: 5000 },
    { id: 'f3', amount_cents: 0 },
  ],
} as unknown as InvoiceParts;
const noted = (fields: Partial<NotedSums>) =>
  ({ sub_total_cents: 0, taxes_cents: 0, fees: [], ...fields }) as unknown as NotedSums;

test('the rest of an invoice without notes is the invoice, less its coupons, on the local day of the void', () => {
  expect(restOfInvoice(parts, noted({}))).toMatchObject({
    number: 'A-1-V',
    issuing_date: Temporal.PlainDate.from('2026-04-01'),
    items: [
      { fee_id: 'f1', amount_cents: 10_000 },
      { fee_id: 'f2', amount_cents: 5000 },
    ],
    coupons_adjustment_amount_cents: 1500,
    sub_total_excluding_taxes_amount_cents: 13_500,
    taxes_amount_cents: 2565,
    total_amount_cents: 16_065,
    applied_taxes: [{ base_amount_cents: 13_500, amount_cents: 2565 }],
  });
});

test('what notes gave back is left out of lines and amounts', () => {
  const fees = [{ fee_id: 'f2', credited_cents: 5000 }] as unknown as NotedSums['fees'];
  expect(restOfInvoice(parts, noted({ sub_total_cents: 4500, taxes_cents: 855, fees }))).toMatchObject({
    items: [{ fee_id: 'f1', amount_cents: 10_000 }],
    coupons_adjustment_amount_cents: 1000,
    sub_total_excluding_taxes_amount_cents: 9000,
    taxes_amount_cents: 1710,
    total_amount_cents: 10_710,
    applied_taxes: [{ base_amount_cents: 9000, amount_cents: 1710 }],
  });
});
