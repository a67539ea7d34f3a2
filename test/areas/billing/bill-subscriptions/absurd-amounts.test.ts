import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../../../support/client.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';
import { ok } from '../../../support/words.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const price = (amount: string, metricId: string) => [
  { billable_metric_id: metricId, charge_model: 'standard', code: 'units', properties: { amount } },
];

/** Two customers in a sandbox that stands at 1 February 2024: the price of one makes amounts that no cents hold. */
async function twoCustomers(settings: object = {}) {
  const org = await service.org({ sandbox: true });
  await ok(org.post('/test_clock', { test_clock: { frozen_time: '2024-02-01T00:00:00Z' } }));
  const metric = { name: 'Units', code: 'units', aggregation_type: 'sum_agg', field_name: 'units' };
  const { svc_id } = (await ok(org.post('/billable_metrics', { billable_metric: metric }))).billable_metric;
  for (const [code, amount] of [
    ['absurd', '1000000000000000'],
    ['sane', '2'],
  ] as const) {
    const plan = {
      name: code,
      code,
      interval: 'monthly',
      amount_cents: 1000,
      amount_currency: 'USD',
      pay_in_advance: false,
    };
    await ok(org.post('/plans', { plan: { ...plan, charges: price(amount, svc_id) } }));
    await ok(org.post('/customers', { customer: { external_id: code, currency: 'USD', ...settings } }));
    const subscription = { external_customer_id: code, plan_code: code, external_id: code };
    await ok(org.post('/subscriptions', { subscription }));
    const event = { transaction_id: code, external_subscription_id: code, code: 'units', timestamp: 1706832000 };
    await ok(org.post('/events', { event: { ...event, properties: { units: 1000 } } }));
  }
  return { ...org, metricId: svc_id };
}

async function advanceTo(org: Client, frozenTime: string): Promise<void> {
  await ok(org.post('/test_clock/advance', { test_clock: { frozen_time: frozenTime } }));
  const { status, error } = await until(async () => {
    const { test_clock } = (await org.get('/test_clock')).body;
    return test_clock.status !== 'advancing' && test_clock;
  }, 25_000);
  expect({ status, error }).toEqual({ status: 'ready', error: null });
}

const totals = async (org: Client, customer: string) =>
  (await org.get(`/invoices?external_customer_id=${customer}`)).body.invoices
    .map((invoice: { status: string; total_amount_cents: number }) => `${invoice.status} ${invoice.total_amount_cents}`)
    .reverse();

const errorsOf = (org: { organization: { organization_id: string } }) => service.sql<
  { status: string; error: string }[]
>`
  select invoice.status, error.error_code as error from invoice_error_details error
  join invoices invoice on invoice.id = error.invoice_id
  where error.organization_id = ${org.organization.organization_id}`;

test('an invoice with absurd amounts is held back with its error while all others are made', async () => {
  const org = await twoCustomers();
  await advanceTo(org, '2024-04-02T00:00:00Z');
  expect(await totals(org, 'sane')).toEqual(['finalized 201000', 'finalized 1000']);
  expect(await totals(org, 'absurd')).toEqual(['finalized 1000']);
  expect(await errorsOf(org)).toEqual([{ status: 'generating', error: 'invoice_generation_error' }]);
});

test('an invoice whose generation never finished is made a day later as it would have been made then', async () => {
  const org = await twoCustomers();
  const { organization_id } = org.organization;
  await advanceTo(org, '2024-03-02T00:00:00Z');
  await ok(org.put('/plans/absurd', { plan: { charges: price('1', org.metricId) } }));
  await advanceTo(org, '2024-03-03T12:00:00Z');
  // With its error noted it is left alone.
  expect(await totals(org, 'absurd')).toEqual([]);
  await service.sql`delete from invoice_error_details where organization_id = ${organization_id}`;
  await advanceTo(org, '2024-03-03T13:00:00Z');
  expect(await totals(org, 'absurd')).toEqual(['finalized 101000']);
  const [invoice] = (await org.get('/invoices?external_customer_id=absurd')).body.invoices;
  expect(invoice).toMatchObject({ issuing_date: '2024-03-01', payment_due_date: '2024-03-01' });
  expect((await org.get(`/invoices/${invoice.svc_id}`)).body.invoice.billing_periods).toMatchObject([
    { invoicing_reason: 'subscription_periodic', charges_from_datetime: '2024-02-01T00:00:00Z' },
  ]);
});

test('a draft that can no longer be computed waits with its error until its price is corrected', async () => {
  const org = await twoCustomers({ billing_configuration: { invoice_grace_period: 3 } });
  const reprice = (amount: string) => ok(org.put('/plans/absurd', { plan: { charges: price(amount, org.metricId) } }));
  await reprice('1');
  await advanceTo(org, '2024-03-02T00:00:00Z');
  expect(await totals(org, 'absurd')).toEqual(['draft 101000']);
  await reprice('1000000000000000');
  await advanceTo(org, '2024-03-10T00:00:00Z');
  expect(await totals(org, 'sane')).toEqual(['finalized 201000']);
  expect(await totals(org, 'absurd')).toEqual(['draft 101000']);
  expect(await errorsOf(org)).toEqual([{ status: 'draft', error: 'invoice_generation_error' }]);

  const [draft] = (await org.get('/invoices?status=draft')).body.invoices;
  expect(await org.put(`/invoices/${draft.svc_id}/refresh`)).toMatchObject({
    status: 422,
    body: { error_details: { base: ['value_is_out_of_range'] } },
  });
  await reprice('3');
  await advanceTo(org, '2024-03-11T00:00:00Z');
  expect(await totals(org, 'absurd')).toEqual(['finalized 301000']);
  expect(await errorsOf(org)).toEqual([]);
});

test('a preview with absurd amounts is refused', async () => {
  const org = await twoCustomers();
  const preview = { customer: { external_id: 'absurd' }, subscriptions: { external_ids: ['absurd'] } };
  expect(await org.post('/invoices/preview', preview)).toMatchObject({
    status: 422,
    body: { error_details: { base: ['value_is_out_of_range'] } },
  });
});
