import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

test('a deleted customer is billed for its last days, and the draft is final five minutes later', async () => {
  const org = await service.org({ sandbox: true });
  const ready = () => until(async () => (await org.get('/test_clock')).body.test_clock.status === 'ready');
  const advance = async (to: string) => {
    await org.post('/test_clock/advance', { test_clock: { frozen_time: to } });
    await ready();
  };
  const invoices = async () => (await org.get('/invoices')).body.invoices;

  await org.post('/test_clock', { test_clock: { frozen_time: '2024-03-01T00:00:00Z' } });
  await org.post('/customers', {
    customer: { external_id: 'c', currency: 'EUR', billing_configuration: { invoice_grace_period: 3 } },
  });
  const plan = {
    name: 'P',
    code: 'p',
    interval: 'monthly',
    amount_cents: 3100,
    amount_currency: 'EUR',
    pay_in_advance: false,
  };
  await org.post('/plans', { plan });
  await org.post('/subscriptions', { subscription: { external_customer_id: 'c', external_id: 's', plan_code: 'p' } });
  await advance('2024-03-10T12:00:00Z');
  expect(await invoices()).toEqual([]);

  await org.delete('/customers/c');
  await until(async () => (await invoices()).length === 1);
  expect(await invoices()).toMatchObject([{ status: 'draft', fees_amount_cents: 1000, issuing_date: '2024-03-13' }]);
  await advance('2024-03-10T12:04:59Z');
  expect(await invoices()).toMatchObject([{ status: 'draft' }]);
  await advance('2024-03-10T12:05:00Z');
  expect(await invoices()).toMatchObject([
    { status: 'finalized', fees_amount_cents: 1000, issuing_date: '2024-03-10' },
  ]);
});

test('deleting a customer ends its pending subscriptions, coupons and wallets, in the audit trail and without webhooks', async () => {
  const org = await service.org({ sandbox: true });
  const made = async (path: string, body: object) => {
    const { status, text } = await org.post(path, body);
    if (status !== 200) throw new Error(text);
  };
  await made('/test_clock', { test_clock: { frozen_time: '2024-03-01T00:00:00Z' } });
  await made('/customers', { customer: { external_id: 'c', currency: 'EUR' } });
  await made('/plans', {
    plan: { name: 'P', code: 'p', interval: 'monthly', amount_cents: 1, amount_currency: 'EUR', pay_in_advance: false },
  });
  await made('/subscriptions', {
    subscription: { external_customer_id: 'c', external_id: 'later', plan_code: 'p', subscription_at: '2024-06-01' },
  });
  await made('/wallets', {
    wallet: { external_customer_id: 'c', name: 'W', code: 'w', currency: 'EUR', rate_amount: '1' },
  });
  await made('/coupons', {
    coupon: {
      name: 'C',
      code: 'k',
      coupon_type: 'percentage',
      percentage_rate: 10,
      frequency: 'forever',
      expiration: 'no_expiration',
    },
  });
  await made('/applied_coupons', { applied_coupon: { external_customer_id: 'c', coupon_code: 'k' } });

  const { svc_id: id } = (await org.delete('/customers/c')).body.customer;
  await until(async () => {
    const [row] = await service.sql<{ ends: string[] }[]>`
      select array[
        (select status from subscriptions where customer_id = ${id}),
        (select status from wallets where customer_id = ${id}),
        (select status from applied_coupons where customer_id = ${id})] as ends`;
    return row!.ends.join() === 'canceled,terminated,terminated' || undefined;
  });
  const { activity_logs: told } = (await org.get('/activity_logs?activity_types[]=customer.deleted')).body;
  expect(told).toMatchObject([{ external_customer_id: 'c' }]);
  const { webhook_events: sent } = (await org.get('/webhook_events?limit=100')).body;
  expect(sent.filter((event: { webhook_type: string }) => event.webhook_type.includes('deleted'))).toEqual([]);
  await made('/customers', { customer: { external_id: 'c' } });
});
