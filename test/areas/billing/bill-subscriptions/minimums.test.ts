import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../../support/story.ts';

// Golden cases of golden-invoices.md#minimums and golden-usage.md#filters-and-fixed-charges.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const figures = (invoice: Invoice) =>
  Object.fromEntries(invoice.fees.map((fee: Invoice) => [fee.item.type, fee.amount_cents]));
const metric = async (story: Story) =>
  (
    await story.client.post('/billable_metrics', {
      billable_metric: { name: 'Calls', code: 'calls', aggregation_type: 'sum_agg', field_name: 'value' },
    })
  ).body.billable_metric.svc_id;
const use = (story: Story, value: number, at: string) =>
  story.use('calls', { value }, { at, transaction_id: `t${value}` });

test('a commitment covers the days since the start, with its own name and taxes (G60)', async () => {
  const story = await openStory(service, '2023-02-04T00:00:00Z');
  await story.client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: 20 } });
  await story.customer();
  await story.plan({
    amount_cents: 100_000,
    minimum_commitment: { amount_cents: 1_000_000, invoice_display_name: 'At least', tax_codes: ['vat'] },
  });
  await story.subscribe();
  await story.advanceTo('2023-03-01T02:00:00Z');
  const [march] = await story.invoices(1);
  expect(march.fees).toMatchObject([
    { item: { type: 'subscription' }, amount_cents: 89_286, taxes_amount_cents: 0 },
    {
      item: { type: 'commitment', invoice_display_name: 'At least' },
      amount_cents: 803_571,
      units: '1.0',
      events_count: null,
      taxes_amount_cents: 160_714,
      from_date: '2023-02-04T00:00:00Z',
      to_date: '2023-02-28T23:59:59Z',
    },
  ]);
});

test('a weekly commitment in advance is reconciled by the next week, and the last one when the subscription ends (G61)', async () => {
  const story = await openStory(service, '2023-02-01T00:00:00Z');
  await story.customer();
  await story.plan({
    interval: 'weekly',
    amount_cents: 100_000,
    pay_in_advance: true,
    minimum_commitment: { amount_cents: 1_000_000 },
  });
  await story.subscribe();
  await story.advanceTo('2023-02-15T10:00:00Z');
  await story.client.delete('/subscriptions/sub?on_termination_credit_note=skip');
  expect((await story.invoices(4)).map(figures)).toEqual([
    { subscription: 71_429 },
    { subscription: 100_000, commitment: 642_857 },
    { subscription: 100_000, commitment: 900_000 },
    { commitment: 328_571 },
  ]);
});

test('a downgrade reconciles the commitment of the month that it closes (G62)', async () => {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  await story.customer();
  await story.plan({ amount_cents: 10_000, minimum_commitment: { amount_cents: 1_000_000 } });
  await story.plan({ code: 'less', amount_cents: 100 });
  await story.subscribe();
  await story.advanceTo('2024-05-10T00:00:00Z');
  await story.subscribe({ plan_code: 'less' });
  await story.advanceTo('2024-06-01T02:00:00Z');
  const month = { subscription: 10_000, commitment: 990_000 };
  expect((await story.invoices(3)).map(figures)).toEqual([month, month, month]);
});

test('a yearly plan with monthly usage reconciles its commitment once a year, and a draft does not count itself', async () => {
  const story = await openStory(service, '2023-01-01T00:00:00Z');
  await story.customer({ billing_configuration: { invoice_grace_period: 2 } });
  const metricId = await metric(story);
  await story.plan({
    interval: 'yearly',
    amount_cents: 10_000,
    bill_charges_monthly: true,
    minimum_commitment: { amount_cents: 100_000 },
    charges: [{ billable_metric_id: metricId, charge_model: 'standard', properties: { amount: '1' } }],
  });
  await story.subscribe();
  await use(story, 10, '2023-01-01T00:00:00Z');
  await story.advanceTo('2024-01-05T00:00:00Z');
  const invoices = await story.invoices(12);
  expect(figures(invoices[0])).toEqual({ charge: 1000 });
  expect(invoices[11].status).toBe('finalized');
  expect(figures(invoices[11])).toEqual({ subscription: 10_000, commitment: 89_000 });
});

test('prices and the minimum in a pricing unit are converted fee by fee (golden cases 104, 107)', async () => {
  const story = await openStory(service, '2024-03-01T00:00:00Z');
  await story.customer();
  await story.client.post('/pricing_units', { pricing_unit: { code: 'tokens', name: 'Tokens', short_name: 'TOK' } });
  const metricId = await metric(story);
  await story.plan({
    amount_cents: 0,
    charges: [
      {
        billable_metric_id: metricId,
        charge_model: 'standard',
        properties: { amount: '1' },
        min_amount_cents: 1000,
        applied_pricing_unit: { code: 'tokens', conversion_rate: '0.25' },
      },
    ],
  });
  await story.subscribe();
  await use(story, 7, '2024-03-01T00:00:00Z');
  await story.advanceTo('2024-04-01T02:00:00Z');
  const [april] = await story.invoices(1);
  const fees = april.fees.filter((fee: Invoice) => fee.item.type === 'charge');
  expect(fees).toMatchObject([
    {
      amount_cents: 175,
      precise_unit_amount: '0.25',
      pricing_unit_details: {
        pricing_unit_code: 'tokens',
        short_name: 'TOK',
        amount_cents: 700,
        precise_amount_cents: '700.0',
        unit_amount_cents: 100,
        precise_unit_amount: '1.0',
        conversion_rate: '0.25',
      },
    },
    { amount_cents: 75, svc_true_up_parent_fee_id: fees[0].svc_id, pricing_unit_details: { amount_cents: 300 } },
  ]);
  expect(fees[0].svc_true_up_fee_id).toBe(fees[1].svc_id);
});
