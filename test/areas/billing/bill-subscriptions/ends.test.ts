import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, periodOf } from '../../../support/story.ts';

// Golden cases of golden-invoices.md#termination, of plans in arrears.
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

test('a plan in arrears that ends bills the days used including the last one, with tax (G29)', async () => {
  const story = await openStory(service, '2022-12-15T00:00:00Z');
  await story.client.post('/taxes', { tax: { name: 'VAT', code: 'vat', rate: '20', applied_to_organization: true } });
  await story.customer();
  await story.plan({ amount_cents: 1000 });
  await story.subscribe();
  await story.advanceTo('2022-12-20T06:00:00Z');
  const ended = await story.client.delete('/subscriptions/sub');
  expect(ended.body.subscription).toMatchObject({
    status: 'terminated',
    terminated_at: '2022-12-20T06:00:00Z',
    on_termination_credit_note: null,
    on_termination_invoice: 'generate',
  });
  const [closing] = await story.invoices(1);
  expect(closing).toMatchObject({ fees_amount_cents: 194, taxes_amount_cents: 39, total_amount_cents: 233 });
  expect(periodOf(closing)).toMatchObject({
    invoicing_reason: 'subscription_terminating',
    subscription_from_datetime: '2022-12-15T00:00:00Z',
    subscription_to_datetime: '2022-12-20T06:00:00Z',
  });
});

test.each([
  ['G30', 'Europe/Paris', '2023-09-05T22:05:00Z', '2023-09-06', 67],
  ['G31', 'America/Bogota', '2023-09-05T05:05:00Z', '2023-09-05', 67],
])('golden case %s: a subscription ends on its local day, in %s', async (_name, timezone, tick, issuingDate, total) => {
  const story = await openStory(service, '2023-09-05T00:00:00Z');
  await story.customer({ timezone });
  await story.plan({ amount_cents: 1000 });
  await story.subscribe({ billing_time: 'anniversary', ending_at: '2023-09-06T00:00:00Z' });
  await story.advanceTo('2023-09-06T12:00:00Z');
  const [closing] = await story.invoices(1);
  expect(closing).toMatchObject({ total_amount_cents: total, issuing_date: issuingDate, created_at: tick });
});

test('a subscription of five hours is billed for a day (G32)', async () => {
  const story = await openStory(service, '2023-09-05T00:00:00Z');
  await story.customer();
  await story.plan({ amount_cents: 1000 });
  await story.subscribe({ billing_time: 'anniversary' });
  await story.advanceTo('2023-09-05T05:00:00Z');
  await story.client.delete('/subscriptions/sub');
  expect((await story.invoices(1))[0].total_amount_cents).toBe(33);
});

test('a subscription that ends on the billing day bills the closed period once (G33)', async () => {
  const story = await openStory(service, '2023-09-05T00:00:00Z');
  await story.customer();
  await story.plan({ amount_cents: 1000 });
  await story.subscribe({ billing_time: 'anniversary', ending_at: '2023-10-05T00:00:00Z' });
  await story.advanceTo('2023-10-06T00:00:00Z');
  const [closing] = await story.invoices(1);
  expect(closing.total_amount_cents).toBe(1000);
  expect(periodOf(closing)).toMatchObject({
    subscription_from_datetime: '2023-09-05T00:00:00Z',
    subscription_to_datetime: '2023-10-04T23:59:59Z',
  });
});

test('a plan in advance that ends on its billing day costs nothing more (G34)', async () => {
  const story = await openStory(service, '2023-09-05T00:00:00Z');
  await story.customer();
  await story.plan({ amount_cents: 1000, pay_in_advance: true });
  await story.subscribe({ billing_time: 'anniversary', ending_at: '2023-10-05T00:00:00Z' });
  await story.advanceTo('2023-10-06T00:00:00Z');
  const [, closing] = await story.invoices(2);
  expect(closing.total_amount_cents).toBe(0);
});

test('the run of the billing day leaves the month to the closing invoice (G35)', async () => {
  const story = await openStory(service, '2023-08-01T00:00:00Z');
  await story.customer();
  await story.plan({ amount_cents: 1000 });
  await story.subscribe({ ending_at: '2023-10-01T00:00:00Z' });
  await story.advanceTo('2023-10-01T02:00:00Z');
  const [august, closing] = await story.invoices(2);
  expect(august.total_amount_cents).toBe(1000);
  expect(closing.total_amount_cents).toBe(1000);
  expect(periodOf(closing).invoicing_reason).toBe('subscription_terminating');
});

test('a termination by hand after the run bills the day that began (G36)', async () => {
  const story = await openStory(service, '2023-08-01T00:00:00Z');
  await story.customer();
  await story.plan({ amount_cents: 1000 });
  await story.subscribe();
  await story.advanceTo('2023-10-01T10:00:00Z');
  await story.client.delete('/subscriptions/sub');
  const invoices = await story.invoices(3);
  expect(invoices.map((invoice) => invoice.total_amount_cents)).toEqual([1000, 1000, 32]);
});

test('a termination without a last invoice bills nothing', async () => {
  const story = await openStory(service, '2023-09-05T00:00:00Z');
  await story.customer();
  await story.plan({ amount_cents: 1000 });
  await story.subscribe();
  const ended = await story.client.delete('/subscriptions/sub?on_termination_invoice=skip');
  expect(ended.body.subscription.on_termination_invoice).toBe('skip');
  await story.advanceTo('2023-10-06T00:00:00Z');
  await story.invoices(0);
});

test('a subscription that is created again with its former anchor starts where it ended (G44)', async () => {
  const story = await openStory(service, '2025-03-15T00:00:00Z');
  await story.customer();
  await story.plan({ amount_cents: 36500, interval: 'yearly' });
  const start = { billing_time: 'anniversary', subscription_at: '2025-03-15T00:00:00Z' };
  await story.subscribe(start);
  await story.advanceTo('2026-03-13T10:00:00Z');
  await story.client.delete('/subscriptions/sub');
  await story.invoices(1);
  await story.advanceTo('2026-03-13T11:00:00Z');
  const again = await story.subscribe(start);
  expect(again.body.subscription).toMatchObject({ status: 'active', started_at: '2026-03-13T10:00:00.000Z' });
  await story.advanceTo('2026-03-15T02:00:00Z');
  const [, year] = await story.invoices(2);
  expect(year.total_amount_cents).toBe(200);
  expect(periodOf(year)).toMatchObject({
    subscription_from_datetime: '2026-03-13T00:00:00Z',
    charges_from_datetime: '2026-03-13T10:00:00Z',
    charges_to_datetime: '2026-03-14T23:59:59Z',
  });
});

test('an unknown choice for the credit of unused days is rejected by name, and skipping it makes no credit note', async () => {
  const story = await openStory(service, '2023-09-05T00:00:00Z');
  await story.customer();
  await story.plan({ amount_cents: 1000, pay_in_advance: true });
  await story.subscribe();
  const wrong = await story.client.delete('/subscriptions/sub?on_termination_credit_note=gift');
  expect(wrong.body.error_details).toEqual({ on_termination_credit_note: ['invalid_value'] });
  const skipped = await story.client.delete('/subscriptions/sub?on_termination_credit_note=skip');
  expect(skipped.body.subscription).toMatchObject({ status: 'terminated', on_termination_credit_note: 'skip' });
  expect((await story.client.delete('/subscriptions/sub')).body).toMatchObject({
    status: 404,
    resource: 'subscription',
  });
});
