import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';

// Usage on invoices: golden cases of golden-invoices.md#minimums, usage-fees.md#dates, golden-usage.md.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const metric = async (story: Story, fields: object = {}): Promise<string> => {
  const { body } = await story.client.post('/billable_metrics', {
    billable_metric: { name: 'Items', code: 'items', aggregation_type: 'sum_agg', field_name: 'value', ...fields },
  });
  return body.billable_metric.svc_id;
};

const send = async (story: Story, at: string, properties: object): Promise<void> => {
  const transaction_id = `${at}-${JSON.stringify(properties)}`;
  const timestamp = Date.parse(at) / 1000;
  const { status, text } = await story.client.post('/events', {
    event: { transaction_id, external_subscription_id: 'sub', code: 'items', timestamp, properties },
  });
  if (status !== 200) throw new Error(text);
};

const usageFees = (invoice: Invoice) => invoice.fees.filter((fee: Invoice) => fee.item.type === 'charge');

test('a spending minimum is filled up for the days billed, with tax (G63)', async () => {
  const story = await openStory(service, '2023-02-04T00:00:00Z');
  await story.client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: '20', applied_to_organization: true } });
  await story.customer();
  const billable_metric_id = await metric(story);
  await story.plan({
    amount_cents: 0,
    charges: [{ billable_metric_id, charge_model: 'standard', min_amount_cents: 1000, properties: { amount: '8' } }],
  });
  await story.subscribe();
  await send(story, '2023-02-10T00:00:00Z', { value: 1 });
  await story.advanceTo('2023-03-01T02:00:00Z');
  const [invoice] = await story.invoices(1);
  expect(invoice.total_amount_cents).toBe(1072);
  const [used, trueUp] = usageFees(invoice);
  expect(used).toMatchObject({ amount_cents: 800, taxes_amount_cents: 160, svc_true_up_fee_id: trueUp.svc_id });
  expect(trueUp).toMatchObject({
    amount_cents: 93,
    taxes_amount_cents: 19,
    units: '1.0',
    events_count: 0,
    svc_true_up_parent_fee_id: used.svc_id,
  });
});

test('a spending minimum counts every filter, and its true-up belongs to the unfiltered fee (G64)', async () => {
  const story = await openStory(service, '2023-02-04T00:00:00Z');
  await story.customer();
  const billable_metric_id = await metric(story, { filters: [{ key: 'cloud', values: ['aws', 'gcp'] }] });
  await story.plan({
    amount_cents: 0,
    charges: [
      {
        billable_metric_id,
        charge_model: 'standard',
        min_amount_cents: 10000,
        properties: { amount: '1' },
        filters: [
          { values: { cloud: ['aws'] }, properties: { amount: '10' } },
          { values: { cloud: ['gcp'] }, properties: { amount: '10' } },
        ],
      },
    ],
  });
  await story.subscribe();
  await send(story, '2023-02-10T00:00:00Z', { value: 2, cloud: 'aws' });
  await send(story, '2023-02-11T00:00:00Z', { value: 5, cloud: 'gcp' });
  await story.advanceTo('2023-03-01T02:00:00Z');
  const [invoice] = await story.invoices(1);
  const fees = usageFees(invoice);
  expect(fees.map((fee: Invoice) => fee.amount_cents)).toEqual([2000, 5000, 0, 1929]);
  expect(fees[3].svc_true_up_parent_fee_id).toBe(fees[2].svc_id);
  expect(fees[2]).toMatchObject({ svc_charge_filter_id: null, svc_true_up_fee_id: fees[3].svc_id });
});

test('a subscription fee opens with the local day and a usage fee with the instant of the start (example F.3)', async () => {
  const story = await openStory(service, '2024-02-04T10:30:00Z');
  await story.customer();
  const billable_metric_id = await metric(story);
  await story.plan({
    amount_cents: 2900,
    charges: [{ billable_metric_id, charge_model: 'standard', properties: { amount: '1' } }],
  });
  await story.subscribe();
  await send(story, '2024-02-04T10:30:00Z', { value: 3 });
  await story.advanceTo('2024-03-01T02:00:00Z');
  const [invoice] = await story.invoices(1);
  expect(invoice.fees).toMatchObject([
    {
      item: { type: 'subscription', item_type: 'Subscription', code: 'plan' },
      amount_cents: 2600,
      amount_details: { plan_amount_cents: 2900 },
      from_date: '2024-02-04T00:00:00Z',
      to_date: '2024-02-29T23:59:59Z',
    },
    {
      item: { type: 'charge', item_type: 'BillableMetric', code: 'items', invoice_display_name: 'Items' },
      amount_cents: 300,
      units: '3.0',
      from_date: '2024-02-04T10:30:00Z',
      to_date: '2024-02-29T23:59:59Z',
    },
  ]);
  const [stored] = await service.sql`
    select input.inputs, input.events_watermark from fee_inputs input
    join fees fee on fee.id = input.fee_id
    where fee.organization_id = ${story.organizationId} and fee.fee_type = 'charge'`;
  expect(stored!.inputs).toMatchObject({
    usage: { aggregated_units: '3', events_count: 1 },
    price: { properties: { amount: '1' } },
  });
  expect(stored!.events_watermark).toMatchObject({ count: 1, digest: expect.stringMatching(/^[0-9a-f]{64}$/) });
});

test('a draft takes in usage that arrives within its grace period', async () => {
  const story = await openStory(service, '2024-02-01T00:00:00Z');
  await story.customer({ billing_configuration: { invoice_grace_period: 3 } });
  const billable_metric_id = await metric(story);
  await story.plan({
    amount_cents: 1000,
    charges: [{ billable_metric_id, charge_model: 'standard', properties: { amount: '1' } }],
  });
  await story.subscribe();
  await story.advanceTo('2024-03-01T02:00:00Z');
  const [draft] = await story.invoices(1);
  expect(draft).toMatchObject({ status: 'draft', fees_amount_cents: 1000 });
  expect(draft).not.toHaveProperty('sequential_id');
  expect(draft.number).toMatch(/-DRAFT$/);
  await send(story, '2024-02-20T00:00:00Z', { value: 7 });
  await story.advanceTo('2024-03-05T00:00:00Z');
  const [final] = await story.invoices(1);
  expect(final).toMatchObject({ svc_id: draft.svc_id, status: 'finalized', fees_amount_cents: 1700, sequential_id: 1 });
});

test('an event at the instant of an upgrade counts once', async () => {
  const story = await openStory(service, '2024-02-01T00:00:00Z');
  await story.customer();
  const billable_metric_id = await metric(story);
  const charges = [{ billable_metric_id, charge_model: 'standard', properties: { amount: '1' } }];
  await story.plan({ amount_cents: 0, charges });
  await story.plan({ amount_cents: 100, code: 'big', charges });
  await story.subscribe();
  await story.advanceTo('2024-02-12T00:00:00Z');
  await send(story, '2024-02-12T00:00:00Z', { value: 5 });
  await story.subscribe({ plan_code: 'big' });
  await send(story, '2024-02-12T00:00:00Z', { value: 11 });
  await story.advanceTo('2024-03-02T00:00:00Z');
  const invoices = await story.invoices(2);
  expect(invoices.map((invoice) => usageFees(invoice).map((fee: Invoice) => fee.amount_cents))).toEqual([
    [500],
    [1100],
  ]);
});

test('invoices and subscriptions are announced by webhooks and recorded in the audit trail', async () => {
  const story = await openStory(service, '2024-03-05T00:00:00Z');
  await story.customer();
  await story.plan({ amount_cents: 1000, pay_in_advance: true });
  await story.subscribe();
  const [invoice] = await story.invoices(1);
  const events = await until(async () => {
    const rows = await service.sql`
      select webhook_type, payload from webhook_events
        where organization_id = ${story.organizationId} order by position`;
    return rows.some((row) => row.webhook_type === 'invoice.created') ? rows : undefined;
  });
  expect(events.map((row) => row.webhook_type)).toEqual([
    'customer.created',
    'plan.created',
    'subscription.started',
    'invoice.created',
  ]);
  const started = JSON.parse(events[2]!.payload);
  expect(started).toMatchObject({
    object_type: 'subscription',
    subscription: { external_id: 'sub', plan: { code: 'plan' }, customer: { external_id: 'acme' }, entitlements: [] },
  });
  const created = JSON.parse(events[3]!.payload);
  expect(created.invoice).toMatchObject({
    svc_id: invoice.svc_id,
    total_amount_cents: 871,
    fees: [{ amount_cents: 871 }],
  });
  const activities = await service.sql`
    select activity_type, activity_source, external_subscription_id from activity_logs
    where organization_id = ${story.organizationId} and resource_type in ('Invoice', 'Subscription') order by id`;
  expect([...activities]).toEqual([
    { activity_type: 'subscription.started', activity_source: 'api', external_subscription_id: 'sub' },
    { activity_type: 'invoice.created', activity_source: 'system', external_subscription_id: null },
  ]);
});
