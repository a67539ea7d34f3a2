import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import type { NotedSums } from '../../../../src/areas/credits/credit-notes/queries.ts';
import { restOfInvoice } from '../../../../src/areas/documents/render-documents/rest-of-invoice.ts';
import type { InvoiceParts } from '../../../../src/areas/invoices/invoices/view.ts';
import { decimal } from '../../../../src/engine/money/decimal.ts';

const fee = (id: string, amount_cents: number, rate: number, coupons = 0, taxes = [rate]) => ({
  id,
  amount_cents,
  precise_coupons_amount_cents: decimal(coupons),
  untaxed_amount_cents: decimal(0),
  taxes_rate: decimal(rate),
  applied_taxes: taxes.map((tax_rate) => ({
    tax_code: `t${tax_rate}`,
    tax_name: `T${tax_rate}`,
    tax_rate,
    base_rate: null,
  })),
});

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
  fees: [fee('f1', 10_000, 19, 1000), fee('f2', 5000, 19, 500), fee('f3', 0, 19, 0)],
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

const invoiceOf = (fees: ReturnType<typeof fee>[], netCents: number, taxCents: number) =>
  ({
    ...parts,
    invoice: {
      ...parts.invoice,
      sub_total_excluding_taxes_amount_cents: netCents,
      taxes_amount_cents: taxCents,
    },
    fees,
  }) as unknown as InvoiceParts;
const credited = (fee_id: string, cents: number, taxes_cents: number) =>
  noted({
    sub_total_cents: cents,
    taxes_cents,
    fees: [{ fee_id, credited_cents: cents }] as unknown as NotedSums['fees'],
  });

test.each([
  [
    'the rate whose fee was given back has no row',
    invoiceOf([fee('a', 10_000, 19), fee('b', 10_000, 7)], 20_000, 2600),
    credited('a', 10_000, 1900),
    [{ tax_name: 'T7', tax_rate: 7, base_amount_cents: 10_000, amount_cents: 700 }],
  ],
  [
    'half a fee at one rate keeps the other rate whole',
    invoiceOf([fee('a', 10_000, 19), fee('b', 10_000, 7)], 20_000, 2600),
    credited('a', 5000, 950),
    [
      { tax_name: 'T19', tax_rate: 19, base_amount_cents: 5000, amount_cents: 950 },
      { tax_name: 'T7', tax_rate: 7, base_amount_cents: 10_000, amount_cents: 700 },
    ],
  ],
  [
    'two taxes of one fee share its tax',
    invoiceOf([fee('a', 10_000, 15, 0, [10, 5]), fee('b', 1000, 0)], 11_000, 1500),
    credited('b', 1000, 0),
    [
      { tax_name: 'T10', tax_rate: 10, base_amount_cents: 10_000, amount_cents: 1000 },
      { tax_name: 'T5', tax_rate: 5, base_amount_cents: 10_000, amount_cents: 500 },
    ],
  ],
  [
    'a rate of nothing keeps its row without tax',
    invoiceOf([fee('a', 10_000, 19), fee('b', 1000, 0)], 11_000, 1900),
    credited('a', 10_000, 1900),
    [{ tax_name: 'T0', tax_rate: 0, base_amount_cents: 1000, amount_cents: 0 }],
  ],
])('the taxes of the rest are those of its fees: %s', (_what, invoice, given, taxes) => {
  expect(restOfInvoice(invoice, given).applied_taxes).toEqual(taxes);
});

test.each([
  ['5.01 is left with a net amount of 5.00', [fee('a', 501, 19), fee('b', 500, 19)], [1000, 190], [500, 95], 0, 500],
  ['0.20 of a coupon is left beside it', [fee('a', 501, 19, 20), fee('b', 500, 0)], [980, 91], [500, 0], 20, 480],
  [
    'more than a cent a line is no rounding',
    [fee('a', 500, 19, 50), fee('b', 500, 19)],
    [950, 181],
    [400, 76],
    -50,
    550,
  ],
] as const)('cents of rounding are no coupon: %s', (_what, fees, [net, tax], [given, taxes], coupons, left) => {
  const back = [{ fee_id: 'b', credited_cents: 500 }] as unknown as NotedSums['fees'];
  const sums = noted({ sub_total_cents: given, taxes_cents: taxes, fees: back });
  expect(restOfInvoice(invoiceOf([...fees], net, tax), sums)).toMatchObject({
    coupons_adjustment_amount_cents: coupons,
    sub_total_excluding_taxes_amount_cents: left,
    applied_taxes: [{ base_amount_cents: left, amount_cents: tax - taxes }],
  });
});
