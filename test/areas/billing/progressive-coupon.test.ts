import { afterAll, beforeAll, expect, test } from 'vitest';
import { create } from 'xmlbuilder2';
import { startService, type TestService } from '../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../support/story.ts';

// A coupon meets progressive billing: taxes.md#computation, progressive-billing.md#credit-in-steps,
// invoice-amounts.md#amounts, progressive-billing.md#credit-on-later-invoices, invoice-amounts.md#amounts.
let service: TestService;
let story: Story;
let progressive: Invoice;
let periodic: Invoice;

beforeAll(async () => {
  service = await startService();
  story = await openStory(service, '2026-01-01T10:00:00Z');
  const { client } = story;
  await client.put('/organizations', {
    organization: { country: 'DE', tax_identification_number: 'DE136695976', legal_name: 'Anbieter GmbH' },
  });
  await client.post('/taxes', { tax: { name: 'MwSt', code: 'vat', rate: '19', applied_to_organization: true } });
  await story.customer({ currency: 'EUR', country: 'DE', legal_name: 'Kunde GmbH' });
  const metric = await client.post('/billable_metrics', {
    billable_metric: { name: 'GB', code: 'gb', aggregation_type: 'sum_agg', field_name: 'value' },
  });
  await client.post('/add_ons', {
    add_on: { name: 'Seats', code: 'seats', amount_cents: 6000, amount_currency: 'EUR' },
  });
  await client.post('/coupons', {
    coupon: {
      name: 'Ten',
      code: 'ten',
      coupon_type: 'percentage',
      percentage_rate: '10',
      frequency: 'forever',
      expiration: 'no_expiration',
    },
  });
  await story.plan({
    amount_cents: 4900,
    amount_currency: 'EUR',
    pay_in_advance: true,
    usage_thresholds: [{ amount_cents: 50000 }],
    charges: [
      {
        billable_metric_id: metric.body.billable_metric.svc_id,
        charge_model: 'standard',
        properties: { amount: '0.52625' },
      },
    ],
    fixed_charges: [
      { add_on_code: 'seats', code: 'seats', charge_model: 'standard', units: 1, properties: { amount: '60' } },
    ],
  });
  await client.post('/applied_coupons', { applied_coupon: { external_customer_id: 'acme', coupon_code: 'ten' } });
  await story.subscribe();
  await client.post('/events', {
    event: { transaction_id: 'gb', external_subscription_id: 'sub', code: 'gb', properties: { value: 1200 } },
  });
  await story.advanceTo('2026-02-01T10:00:00Z');
  const invoices = await story.invoices(3);
  progressive = invoices.find((each: Invoice) => each.invoice_type === 'progressive_billing');
  periodic = invoices.find((each: Invoice) => each.progressive_billing_credit_amount_cents > 0);
});
afterAll(() => service.stop());

const figures = (invoice: Invoice) => [
  invoice.fees_amount_cents,
  invoice.progressive_billing_credit_amount_cents,
  invoice.coupons_amount_cents,
  invoice.sub_total_excluding_taxes_amount_cents,
  invoice.applied_taxes[0].fees_amount_cents,
  invoice.taxes_amount_cents,
  invoice.total_amount_cents,
];

test('an invoice is credited with progressive amounts after coupons, and each of its fees with amounts before them', () => {
  expect(figures(progressive)).toEqual([63150, 0, 6315, 56835, 56835, 10799, 67634]);
  expect(figures(periodic)).toEqual([74050, 56835, 1722, 15493, 9810, 1864, 17357]);
});

test('no electronic document states a taxable amount that does not match its tax', async () => {
  const refused = await story.client.post(`/invoices/${periodic.svc_id}/download_xml`);
  expect(refused).toMatchObject({
    status: 422,
    body: { error_details: { sub_total_excluding_taxes_amount_cents: ['does_not_match_taxed_amount'] } },
  });
  const { body } = await story.client.post(`/invoices/${progressive.svc_id}/download_xml`);
  const { pathname, search } = new URL(body.invoice.xml_url);
  const xml = await (await fetch(`${service.url}${pathname}${search}`)).text();
  // biome-ignore lint/suspicious/noExplicitAny: documents of every shape
  const row = (create(xml).end({ format: 'object' }) as any).Invoice['cac:TaxTotal']['cac:TaxSubtotal'];
  expect([row['cbc:TaxableAmount']['#'], row['cbc:TaxAmount']['#']]).toEqual(['568.35', '107.99']);
});

test('an invoice without an electronic document can still be printed', async () => {
  const drawn = await story.client.post(`/invoices/${periodic.svc_id}/download`);
  expect(drawn.status, drawn.text).toBe(200);
  const { pathname, search } = new URL(drawn.body.invoice.file_url);
  const file = Buffer.from(await (await fetch(`${service.url}${pathname}${search}`)).arrayBuffer());
  expect(file.subarray(0, 5).toString()).toBe('%PDF-');
});
