import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../support/story.ts';

// Golden cases of golden-invoices.md#progressive-and-regrouped; usage at 0.0002 USD a unit, 31.00 a month in arrears.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

async function open(usage_thresholds: object[], planFields: object = {}): Promise<Story & { spend: Spend }> {
  const story = await openStory(service, '2022-12-01T00:00:00Z');
  await story.customer();
  const metric = await story.client.post('/billable_metrics', {
    billable_metric: { name: 'Units', code: 'units', aggregation_type: 'sum_agg', field_name: 'value' },
  });
  await story.plan({
    amount_cents: 3100,
    usage_thresholds,
    charges: [
      {
        billable_metric_id: metric.body.billable_metric.svc_id,
        charge_model: 'standard',
        properties: { amount: '0.0002' },
      },
    ],
    ...planFields,
  });
  const { status } = await story.subscribe();
  expect(status).toBe(200);
  const spend: Spend = async (at, cents) => {
    await story.advanceTo(`${at}T10:00:00Z`);
    await story.use('units', { value: cents * 50 });
    await story.advanceTo(`${at}T10:15:00Z`);
  };
  return { ...story, spend };
}
type Spend = (day: string, cents: number) => Promise<void>;

const totals = (invoices: Invoice[]) => invoices.map((invoice) => invoice.total_amount_cents);
const figures = ({ fees_amount_cents, progressive_billing_credit_amount_cents, total_amount_cents }: Invoice) => [
  fees_amount_cents,
  progressive_billing_credit_amount_cents,
  total_amount_cents,
];

test('a usage threshold is billed once, and the invoice of the month credits it (G78)', async () => {
  const story = await open([{ amount_cents: 20000, threshold_display_name: 'First' }]);
  await story.spend('2022-12-06', 20000);
  const [progressive] = await story.invoices(1);
  expect(progressive).toMatchObject({
    invoice_type: 'progressive_billing',
    status: 'finalized',
    issuing_date: '2022-12-06',
    total_amount_cents: 20000,
    number: expect.stringMatching(/-001-001$/),
    applied_usage_thresholds: [
      {
        lifetime_usage_amount_cents: 20000,
        usage_threshold: { amount_cents: 20000, threshold_display_name: 'First', recurring: false },
      },
    ],
  });
  expect(progressive.billing_periods).toMatchObject([
    {
      charges_from_datetime: '2022-12-01T00:00:00Z',
      charges_to_datetime: '2022-12-31T23:59:59Z',
      invoicing_reason: 'progressive_billing',
    },
  ]);
  expect(progressive.fees).toMatchObject([{ item: { type: 'charge' }, amount_cents: 20000 }]);

  await story.spend('2022-12-16', 20000);
  await story.advanceTo('2023-01-01T02:00:00Z');
  const month = (await story.invoices(2))[1];
  expect(figures(month)).toEqual([43100, 20000, 23100]);
  expect(month.credits).toEqual([
    {
      svc_id: expect.any(String),
      amount_cents: 20000,
      amount_currency: 'USD',
      before_taxes: true,
      item: {
        svc_item_id: progressive.svc_id,
        type: 'invoice',
        code: progressive.number,
        name: progressive.number,
        description: null,
      },
      invoice: { svc_id: progressive.svc_id, payment_status: 'pending' },
    },
  ]);
});

test('usage that was billed before the period ended counts once towards the minimum commitment', async () => {
  const story = await open([{ amount_cents: 20000 }], { minimum_commitment: { amount_cents: 50000 } });
  await story.spend('2022-12-06', 20000);
  await story.advanceTo('2023-01-01T01:00:00Z');
  const [, month] = await story.invoices(2);
  expect(month.fees.map(({ item, amount_cents }: Invoice) => [item.type, amount_cents])).toEqual([
    ['subscription', 3100],
    ['charge', 20000],
    ['commitment', 26900],
  ]);
  expect(figures(month)).toEqual([50000, 20000, 30000]);
});

test('a closing invoice credits what was billed at thresholds (G79)', async () => {
  const story = await open([{ amount_cents: 20000 }]);
  await story.spend('2022-12-16', 20000);
  await story.advanceTo('2022-12-18T10:00:00Z');
  await story.client.delete('/subscriptions/sub');
  const closing = (await story.invoices(2))[1];
  expect(figures(closing)).toEqual([21800, 20000, 1800]);
});

test('the closing invoice of an upgrade credits what was billed at thresholds (G80)', async () => {
  const story = await open([{ amount_cents: 20000 }]);
  await story.plan({ code: 'bigger', amount_cents: 9300 });
  await story.spend('2022-12-16', 20000);
  await story.advanceTo('2022-12-18T10:00:00Z');
  await story.subscribe({ plan_code: 'bigger' });
  const closing = (await story.invoices(2))[1];
  expect(figures(closing)).toEqual([21700, 20000, 1700]);
});

test('fixed thresholds are billed first, then every further step of the recurring one (G81)', async () => {
  const story = await open([
    { amount_cents: 200 },
    { amount_cents: 500 },
    { amount_cents: 700 },
    { amount_cents: 1000, recurring: true },
  ]);
  for (const day of ['05', '10', '15', '20']) await story.spend(`2022-12-${day}`, 220);
  await story.spend('2022-12-25', 2200);
  await story.spend('2022-12-27', 2200);
  expect(totals(await story.invoices(5))).toEqual([220, 440, 220, 2200, 2200]);
  await story.advanceTo('2023-01-01T02:00:00Z');
  const month = (await story.invoices(6))[5];
  expect(month).toMatchObject({ progressive_billing_credit_amount_cents: 5280, total_amount_cents: 3100 });
});

test('a period that begins above a threshold is billed at once without an event', async () => {
  const story = await openStory(service, '2022-12-01T00:00:00Z');
  await story.customer();
  const made = await story.client.post('/billable_metrics', {
    billable_metric: { name: 'Seats', code: 'seats', aggregation_type: 'sum_agg', field_name: 'n', recurring: true },
  });
  await story.plan({
    amount_cents: 0,
    usage_thresholds: [{ amount_cents: 20000 }],
    charges: [
      {
        billable_metric_id: made.body.billable_metric.svc_id,
        charge_model: 'standard',
        properties: { amount: '1' },
      },
    ],
  });
  await story.subscribe();
  const event = { transaction_id: 'seats', external_subscription_id: 'sub', code: 'seats', properties: { n: 150 } };
  expect((await story.client.post('/events', { event })).status).toBe(200);
  await story.advanceTo('2023-01-01T02:00:00Z');
  const [month, progressive] = await story.invoices(2);
  expect(month).toMatchObject({ invoice_type: 'subscription', total_amount_cents: 15000 });
  expect(progressive).toMatchObject({
    invoice_type: 'progressive_billing',
    issuing_date: '2023-01-01',
    total_amount_cents: 15000,
    applied_usage_thresholds: [{ lifetime_usage_amount_cents: 30000 }],
  });
});

test('a subscription that begins above a threshold is billed at once too', async () => {
  const ranges = [{ from_value: 0, to_value: null, per_unit_amount: '1', flat_amount: '300' }];
  const story = await openStory(service, '2022-12-01T00:00:00Z');
  await story.customer();
  const made = await story.client.post('/billable_metrics', {
    billable_metric: { name: 'Units', code: 'units', aggregation_type: 'sum_agg', field_name: 'value' },
  });
  const billable_metric_id = made.body.billable_metric.svc_id;
  const properties = { graduated_ranges: ranges };
  await story.plan({
    amount_cents: 0,
    usage_thresholds: [{ amount_cents: 20000 }],
    charges: [{ billable_metric_id, charge_model: 'graduated', properties }],
  });
  await story.subscribe();
  await story.advanceTo('2022-12-01T00:10:00Z');
  expect(await story.invoices(1)).toMatchObject([{ invoice_type: 'progressive_billing', total_amount_cents: 30000 }]);
});

test('a threshold that does not recur is used up for good (G82)', async () => {
  const story = await open([{ amount_cents: 20000 }]);
  await story.spend('2022-12-16', 20000);
  await story.spend('2023-01-16', 40000);
  await story.advanceTo('2023-02-01T02:00:00Z');
  expect(totals(await story.invoices(3))).toEqual([20000, 3100, 43100]);
});

test('a threshold does not change a draft of the month before (G83)', async () => {
  const story = await open([{ amount_cents: 20000 }]);
  await story.customer({ billing_configuration: { invoice_grace_period: 30 } });
  await story.advanceTo('2023-01-10T00:00:00Z');
  await story.spend('2023-01-16', 60000);
  const [progressive, draft] = await story.invoices(2); // the draft will be issued later
  expect([draft.status, draft.invoice_type]).toEqual(['draft', 'subscription']);
  expect([progressive.status, progressive.total_amount_cents]).toEqual(['finalized', 60000]);
  await story.advanceTo('2023-03-05T02:00:00Z');
  const subscription = (await story.invoices(4)).filter((each) => each.invoice_type === 'subscription');
  expect(subscription.slice(0, 2).map(figures)).toEqual([
    [3100, 0, 3100],
    [63100, 60000, 3100],
  ]);
  expect(subscription.slice(0, 2).map(({ status }) => status)).toEqual(['finalized', 'finalized']);
});

test('a draft shows the progressive credit and finalizes with it, and voiding the invoice gives it back', async () => {
  const story = await open([{ amount_cents: 20000 }]);
  await story.customer({ billing_configuration: { invoice_grace_period: 3 } });
  await story.spend('2022-12-06', 20000);
  await story.advanceTo('2023-01-01T02:00:00Z');
  const draft = (await story.invoices(2)).find(({ invoice_type }) => invoice_type === 'subscription');
  expect([draft.status, ...figures(draft), draft.credits.length]).toEqual(['draft', 23100, 20000, 3100, 1]);
  await story.use('units', { value: 5000 }, { at: '2022-12-31T12:00:00Z' });
  await story.advanceTo('2023-01-04T02:00:00Z');
  const final = (await story.client.get(`/invoices/${draft.svc_id}`)).body.invoice;
  expect([final.status, ...figures(final), final.credits.length]).toEqual(['finalized', 23200, 20000, 3200, 1]);
  const credited = async () => {
    const [row] = await service.sql`
      select coalesce(sum(credit.amount_cents), 0)::int as cents
      from credits credit join invoices invoice on invoice.id = credit.invoice_id
      where credit.organization_id = ${story.organizationId} and invoice.status <> 'voided'`;
    return row!.cents;
  };
  expect(await credited()).toBe(20000);
  const { status } = await story.client.post(`/invoices/${draft.svc_id}/void`, {});
  expect([status, await credited()]).toEqual([200, 0]);
});

test('a threshold that is added later bills the usage so far, with taxes on what is left', async () => {
  const story = await open([]);
  await story.client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: 20, applied_to_organization: true } });
  await story.spend('2022-12-06', 1000);
  await story.invoices(0);
  await story.client.put('/plans/plan', { plan: { usage_thresholds: [{ amount_cents: 200 }] } });
  await story.advanceTo('2022-12-07T10:10:00Z');
  const [progressive] = await story.invoices(1);
  expect(progressive).toMatchObject({ fees_amount_cents: 1000, taxes_amount_cents: 200, total_amount_cents: 1200 });
  await story.spend('2022-12-20', 500);
  await story.advanceTo('2023-01-01T02:00:00Z');
  const month = (await story.invoices(2))[1];
  expect(month).toMatchObject({
    fees_amount_cents: 4600,
    progressive_billing_credit_amount_cents: 1000,
    sub_total_excluding_taxes_amount_cents: 3600,
    taxes_amount_cents: 720,
    total_amount_cents: 4320,
  });
  const usage = month.fees.find((fee: Invoice) => fee.item.type === 'charge');
  expect(usage).toMatchObject({ amount_cents: 1500, taxes_amount_cents: 100 });
});

describe('announcements of progressive billing', () => {
  test('each passed threshold is announced once, after its invoice', async () => {
    const story = await open([{ amount_cents: 100 }, { amount_cents: 200 }, { amount_cents: 5000 }]);
    await story.spend('2022-12-06', 300);
    await story.spend('2022-12-07', 10);
    const events = await service.sql<{ webhook_type: string; payload: string }[]>`
      select webhook_type, payload from webhook_events
      where organization_id = ${story.organizationId}
        and webhook_type in ('invoice.created', 'subscription.usage_threshold_reached')
      order by id`;
    expect(events.map(({ webhook_type }) => webhook_type)).toEqual([
      'invoice.created',
      'subscription.usage_threshold_reached',
      'subscription.usage_threshold_reached',
    ]);
    const told = events.slice(1).map(({ payload }) => JSON.parse(payload).subscription);
    expect(told.map(({ usage_threshold }) => usage_threshold.amount_cents)).toEqual([100, 200]);
    expect(told[0]).toMatchObject({ external_id: 'sub', plan: { code: 'plan' }, customer: { external_id: 'acme' } });
    expect(told[0].applicable_usage_thresholds).toHaveLength(3);
  });
});
