import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory, periodOf } from '../../../support/story.ts';

// Golden cases of golden-invoices.md#starts-and-periodic-runs.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const totals = (invoices: Invoice[]) => invoices.map((invoice) => invoice.total_amount_cents);

test('a plan in advance bills the rest of its first month, then each month once (G01, G18)', async () => {
  const story = await openStory(service, '2024-03-05T00:00:00Z');
  await story.customer();
  await story.plan({ amount_cents: 1000, pay_in_advance: true });
  await story.subscribe();
  const [start] = await story.invoices(1);
  expect(start).toMatchObject({ status: 'finalized', total_amount_cents: 871, payment_status: 'pending' });
  expect(periodOf(start)).toMatchObject({
    subscription_from_datetime: '2024-03-05T00:00:00Z',
    subscription_to_datetime: '2024-03-31T23:59:59Z',
    invoicing_reason: 'subscription_starting',
  });

  await story.advanceTo('2024-04-01T03:00:00Z');
  const [, april] = await story.invoices(2);
  expect(april).toMatchObject({
    total_amount_cents: 1000,
    issuing_date: '2024-04-01',
    created_at: '2024-04-01T00:10:00Z',
  });
  expect(periodOf(april)).toMatchObject({
    subscription_from_datetime: '2024-04-01T00:00:00Z',
    subscription_to_datetime: '2024-04-30T23:59:59Z',
    charges_from_datetime: '2024-03-05T00:00:00Z',
    charges_to_datetime: '2024-03-31T23:59:59Z',
    invoicing_reason: 'subscription_periodic',
  });
});

test('a plan on anniversaries bills a whole first month (G02)', async () => {
  const story = await openStory(service, '2024-03-05T00:00:00Z');
  await story.customer();
  await story.plan({ amount_cents: 1000, pay_in_advance: true });
  await story.subscribe({ billing_time: 'anniversary' });
  const [start] = await story.invoices(1);
  expect(start.total_amount_cents).toBe(1000);
  expect(periodOf(start)).toMatchObject({
    subscription_from_datetime: '2024-03-05T00:00:00Z',
    subscription_to_datetime: '2024-04-04T23:59:59Z',
  });
});

test('a plan in advance bills its fee for the month ahead and usage for the month behind (G03)', async () => {
  const story = await openStory(service, '2023-06-16T00:00:00Z');
  await story.customer();
  await story.plan({ amount_cents: 700, pay_in_advance: true });
  await story.subscribe();
  await story.advanceTo('2024-02-01T02:00:00Z');
  const invoices = await story.invoices(9);
  expect(invoices[8].total_amount_cents).toBe(700);
  expect(periodOf(invoices[8])).toMatchObject({
    subscription_from_datetime: '2024-02-01T00:00:00Z',
    subscription_to_datetime: '2024-02-29T23:59:59Z',
    charges_from_datetime: '2024-01-01T00:00:00Z',
    charges_to_datetime: '2024-01-31T23:59:59Z',
  });
});

test.each([
  ['G04', 'America/Denver', '2023-06-16T05:00:00Z', 400],
  ['G05', 'America/Halifax', '2023-06-16T05:00:00Z', 300],
  ['G06', 'Europe/Paris', '2023-06-16T20:00:00Z', 300],
  ['G07', 'Asia/Karachi', '2023-06-16T20:00:00Z', 200],
])('golden case %s: a weekly plan counts the local days left, in %s', async (_name, timezone, start, total) => {
  const story = await openStory(service, start);
  await story.customer({ timezone });
  await story.plan({ amount_cents: 700, pay_in_advance: true, interval: 'weekly' });
  await story.subscribe();
  expect(totals(await story.invoices(1))).toEqual([total]);
});

test('a monthly plan from the 31st bills on the last day of shorter months and on the 31st of longer ones (G08)', async () => {
  const story = await openStory(service, '2024-01-31T01:00:00Z');
  await story.customer();
  await story.plan({ amount_cents: 1000 });
  await story.subscribe({ billing_time: 'anniversary' });
  await story.advanceTo('2024-04-30T02:00:00Z');
  const invoices = await story.invoices(3);
  expect(totals(invoices)).toEqual([1000, 1000, 1000]);
  expect(invoices.map((invoice) => periodOf(invoice).subscription_from_datetime)).toEqual([
    '2024-01-31T00:00:00Z',
    '2024-02-29T00:00:00Z',
    '2024-03-31T00:00:00Z',
  ]);
  expect(periodOf(invoices[0])).toMatchObject({
    subscription_to_datetime: '2024-02-28T23:59:59Z',
    charges_from_datetime: '2024-01-31T01:00:00Z',
    charges_to_datetime: '2024-02-28T23:59:59Z',
  });
  expect(periodOf(invoices[2]).subscription_to_datetime).toBe('2024-04-29T23:59:59Z');
});

test('a yearly plan from a leap day bills on 28 February in common years (G09)', async () => {
  const story = await openStory(service, '2024-02-29T00:00:00Z');
  await story.customer();
  await story.plan({ amount_cents: 12000, interval: 'yearly' });
  await story.subscribe({ billing_time: 'anniversary' });
  await story.advanceTo('2028-02-29T02:00:00Z');
  const invoices = await story.invoices(4);
  expect(periodOf(invoices[0])).toMatchObject({
    subscription_from_datetime: '2024-02-29T00:00:00Z',
    subscription_to_datetime: '2025-02-27T23:59:59Z',
  });
  expect(periodOf(invoices[3])).toMatchObject({
    subscription_from_datetime: '2027-02-28T00:00:00Z',
    subscription_to_datetime: '2028-02-28T23:59:59Z',
  });
  expect(totals(invoices)).toEqual([12000, 12000, 12000, 12000]);
});

test('a quarterly plan from 30 November bills on the last day of February (G10)', async () => {
  const story = await openStory(service, '2023-11-30T00:00:00Z');
  await story.customer();
  await story.plan({ amount_cents: 900, interval: 'quarterly' });
  await story.subscribe({ billing_time: 'anniversary' });
  await story.advanceTo('2024-02-29T02:00:00Z');
  const [quarter] = await story.invoices(1);
  expect(periodOf(quarter)).toMatchObject({
    subscription_from_datetime: '2023-11-30T00:00:00Z',
    subscription_to_datetime: '2024-02-28T23:59:59Z',
  });
});

test('a plan in arrears bills the days of its first, partial month (G11)', async () => {
  const story = await openStory(service, '2024-01-15T00:00:00Z');
  await story.customer();
  await story.plan({ amount_cents: 3100 });
  await story.subscribe();
  await story.advanceTo('2024-02-01T02:00:00Z');
  expect(totals(await story.invoices(1))).toEqual([1700]);
});

test.each([
  ['G12', 'in arrears', '2024-01-01T00:00:00Z', '2024-01-31T23:59:59Z'],
  ['G13', 'in advance', '2024-02-01T00:00:00Z', '2024-02-29T23:59:59Z'],
])('golden case %s: a start in the past bills one period only, %s', async (_name, billed, from, to) => {
  const pay_in_advance = billed === 'in advance';
  const story = await openStory(service, '2024-01-20T00:00:00Z');
  await story.customer();
  await story.plan({ amount_cents: 3100, pay_in_advance });
  const made = await story.subscribe({ subscription_at: '2023-11-15T00:00:00Z' });
  expect(made.body.subscription).toMatchObject({ status: 'active', started_at: '2023-11-15T00:00:00.000Z' });
  await story.advanceTo('2024-01-31T23:00:00Z');
  await story.invoices(0);
  await story.advanceTo('2024-02-01T02:00:00Z');
  const [invoice] = await story.invoices(1);
  expect(invoice.total_amount_cents).toBe(3100);
  expect(periodOf(invoice)).toMatchObject({
    subscription_from_datetime: from,
    subscription_to_datetime: to,
    charges_from_datetime: '2024-01-01T00:00:00Z',
    charges_to_datetime: '2024-01-31T23:59:59Z',
  });
});

test('a subscription with a future start starts with the first tick of its local day (G14)', async () => {
  const story = await openStory(service, '2023-08-24T00:07:00Z');
  await story.customer({ timezone: 'America/Bogota' });
  await story.plan({ amount_cents: 1000 });
  const made = await story.subscribe({ subscription_at: '2023-08-25T10:00:00Z' });
  expect(made.body.subscription).toMatchObject({ status: 'pending', started_at: null });
  await story.advanceTo('2023-08-25T04:59:00Z');
  expect((await story.client.get('/subscriptions/sub?status=pending')).status).toBe(200);
  await story.advanceTo('2023-08-25T05:00:00Z');
  const { subscription } = (await story.client.get('/subscriptions/sub')).body;
  expect(subscription).toMatchObject({ status: 'active', started_at: '2023-08-25T05:00:00.000Z' });
});

test.each([
  ['unless consolidated (G19)', { plan_code: 'plan', consolidate_invoice: false }, 2],
  ['in two currencies (G20)', { plan_code: 'euro' }, 2],
  ['on one plan', { plan_code: 'plan' }, 1],
  ['with different purchase orders', { plan_code: 'plan', purchase_order_number: 'PO-1' }, 2],
])('two subscriptions of one customer %s (the second with %o) make %i invoices', async (_name, second, count) => {
  const story = await openStory(service, '2024-01-15T00:00:00Z');
  await story.customer();
  await story.plan({ amount_cents: 3100 });
  await story.plan({ amount_cents: 3100, code: 'euro', amount_currency: 'EUR' });
  await story.subscribe();
  await story.subscribe({ external_id: 'second', ...second });
  await story.advanceTo('2024-02-01T02:00:00Z');
  const invoices = await story.invoices(count);
  expect(totals(invoices).reduce((sum: number, total: number) => sum + total)).toBe(3400);
});

test('subscribing to the same plan again changes nothing (G21)', async () => {
  const story = await openStory(service, '2024-03-05T00:00:00Z');
  await story.customer();
  await story.plan({ amount_cents: 1000, pay_in_advance: true });
  const first = await story.subscribe();
  const again = await story.subscribe({ name: 'Other' });
  expect(again.body.subscription).toMatchObject({ svc_id: first.body.subscription.svc_id, name: null });
  await story.invoices(1);
});
