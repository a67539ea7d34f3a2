import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../../support/story.ts';

// Golden cases of golden-invoices.md#upgrade-and-downgrade that need no credit note.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const plans = async (story: Story, ...fields: object[]) => {
  await story.customer();
  for (const each of fields) await story.plan(each);
};
const fees = (invoice: Invoice) => invoice.fees.map((fee: Invoice) => fee.amount_cents);

test('an upgrade in arrears leaves its own day to the new plan (G50)', async () => {
  const story = await openStory(service, '2024-02-01T00:00:00Z');
  await plans(story, { amount_cents: 2900 }, { amount_cents: 29000, code: 'big' });
  await story.subscribe();
  await story.advanceTo('2024-02-12T00:00:00Z');
  const upgraded = await story.subscribe({ plan_code: 'big' });
  expect(upgraded.body.subscription).toMatchObject({
    plan_code: 'big',
    previous_plan_code: 'plan',
    status: 'active',
    started_at: '2024-02-12T00:00:00.000Z',
    subscription_at: '2024-02-01T00:00:00Z',
  });
  const [closing] = await story.invoices(1);
  expect(fees(closing)).toEqual([1100]);
  expect(closing.billing_periods.map((each: Invoice) => each.invoicing_reason)).toEqual(['subscription_terminating']);
  await story.advanceTo('2024-03-01T02:00:00Z');
  const [, march] = await story.invoices(2);
  expect(fees(march)).toEqual([18000]);
});

test('a free plan bills nothing up to its upgrade, and the new plan bills the days until it ends (G51)', async () => {
  const story = await openStory(service, '2024-04-24T10:00:00Z');
  await story.client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: '20', applied_to_organization: true } });
  await plans(story, { amount_cents: 0 }, { amount_cents: 2000, code: 'big' });
  await story.subscribe();
  await story.advanceTo('2024-04-24T11:00:00Z');
  await story.subscribe({ plan_code: 'big' });
  const [free] = await story.invoices(1);
  expect(free.total_amount_cents).toBe(0);
  expect(free.billing_periods[0]).toMatchObject({
    subscription_from_datetime: '2024-04-24T00:00:00Z',
    subscription_to_datetime: '2024-04-24T11:00:00Z',
    charges_from_datetime: '2024-04-24T10:00:00Z',
    charges_to_datetime: '2024-04-24T11:00:00Z',
  });
  await story.advanceTo('2024-04-26T11:00:00Z');
  await story.client.delete('/subscriptions/sub');
  const [, closing] = await story.invoices(2);
  expect(closing).toMatchObject({ fees_amount_cents: 200, taxes_amount_cents: 40, total_amount_cents: 240 });
});

test('the last fee is prorated by the period of the inherited anchor (G52)', async () => {
  const story = await openStory(service, '2024-01-15T00:00:00Z');
  await plans(
    story,
    { amount_cents: 45500, interval: 'quarterly' },
    { amount_cents: 91000, interval: 'quarterly', code: 'big' },
  );
  await story.subscribe({ billing_time: 'anniversary' });
  await story.advanceTo('2024-05-20T10:00:00Z');
  await story.subscribe({ plan_code: 'big' });
  await story.advanceTo('2024-06-20T10:00:00Z');
  await story.client.delete('/subscriptions/sub');
  const invoices = await story.invoices(3);
  expect(fees(invoices[2])).toEqual([32000]);
});

test('a change to a plan of equal yearly amount is an upgrade (G53)', async () => {
  const story = await openStory(service, '2024-01-15T00:00:00Z');
  await plans(story, { amount_cents: 1000 }, { amount_cents: 12000, interval: 'yearly', code: 'year' });
  await story.subscribe();
  const changed = await story.subscribe({ plan_code: 'year' });
  expect(changed.body.subscription).toMatchObject({ plan_code: 'year', status: 'active' });
});

test('a scheduled downgrade can be withdrawn by an upgrade or by hand (G54, G55)', async () => {
  const story = await openStory(service, '2024-01-15T00:00:00Z');
  await plans(story, { amount_cents: 1000 }, { amount_cents: 100, code: 'small' }, { amount_cents: 5000, code: 'big' });
  await story.subscribe();
  const scheduled = await story.subscribe({ plan_code: 'small' });
  expect(scheduled.body.subscription).toMatchObject({
    plan_code: 'plan',
    next_plan_code: 'small',
    downgrade_plan_date: '2024-02-01',
  });
  const withdrawn = await story.client.delete('/subscriptions/sub?status=pending');
  expect(withdrawn.body.subscription).toMatchObject({ plan_code: 'small', status: 'canceled' });
  expect((await story.client.get('/subscriptions/sub')).body.subscription.next_plan_code).toBeNull();

  await story.subscribe({ plan_code: 'small' });
  const upgraded = await story.subscribe({ plan_code: 'big' });
  expect(upgraded.body.subscription.plan_code).toBe('big');
  const canceled = await story.client.get('/subscriptions?status[]=canceled');
  expect(canceled.body.meta.total_count).toBe(2);
});

test('a plan change before the start of a subscription just replaces its plan (G56)', async () => {
  const story = await openStory(service, '2024-01-15T00:00:00Z');
  await plans(story, { amount_cents: 1000, pay_in_advance: true }, { amount_cents: 100, code: 'small' });
  const pending = await story.subscribe({ subscription_at: '2024-02-10T00:00:00Z' });
  const replaced = await story.subscribe({ plan_code: 'small', subscription_at: '2024-02-10T00:00:00Z' });
  expect(replaced.body.subscription).toMatchObject({
    svc_id: pending.body.subscription.svc_id,
    plan_code: 'small',
    status: 'pending',
  });
  await story.invoices(0);
});

test('a downgrade in advance takes over at the end of the period on the inherited anchor (G45)', async () => {
  const story = await openStory(service, '2023-07-19T00:00:00Z');
  await plans(
    story,
    { amount_cents: 12900, pay_in_advance: true },
    { amount_cents: 118800, interval: 'yearly', pay_in_advance: true, code: 'year' },
  );
  await story.subscribe({ billing_time: 'anniversary' });
  await story.advanceTo('2023-11-09T00:00:00Z');
  await story.subscribe({ plan_code: 'year' });
  await story.advanceTo('2023-11-18T23:00:00Z');
  await story.invoices(4);
  await story.advanceTo('2023-11-19T02:00:00Z');
  const invoices = await story.invoices(5);
  expect(invoices[4]).toMatchObject({ total_amount_cents: 78875, created_at: '2023-11-19T00:10:00Z' });
  const opening = invoices[4].billing_periods.find(
    (each: Invoice) => each.invoicing_reason === 'subscription_starting',
  );
  expect(opening).toMatchObject({
    subscription_from_datetime: '2023-11-19T00:00:00Z',
    subscription_to_datetime: '2024-07-18T23:59:59Z',
  });
  expect((await story.client.get('/subscriptions/sub?status=terminated')).body.subscription.plan_code).toBe('plan');
});

test('a downgrade in arrears bills the last period in full and then the smaller plan', async () => {
  const story = await openStory(service, '2023-07-01T00:00:00Z');
  await plans(story, { amount_cents: 10000 }, { amount_cents: 1000, code: 'small' });
  await story.subscribe();
  await story.advanceTo('2023-08-21T00:00:00Z');
  await story.subscribe({ plan_code: 'small' });
  await story.advanceTo('2023-10-01T02:00:00Z');
  const invoices = await story.invoices(3);
  expect(invoices.map((invoice) => invoice.total_amount_cents)).toEqual([10000, 10000, 1000]);
});
