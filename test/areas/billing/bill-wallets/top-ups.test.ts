import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { violationsOf } from '../../../contract/check-webhook.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';

let service: TestService;
let story: Story;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  story = await openStory(service, '2024-05-01T10:00:00Z');
});

const make = async (fields: object = {}) =>
  (
    await story.client.post('/wallets', {
      wallet: { external_customer_id: 'acme', rate_amount: '1', currency: 'USD', ...fields },
    })
  ).body.wallet;
const wallet = async (id: string) => (await story.client.get(`/wallets/${id}`)).body.wallet;
const move = async (id: string, fields: object) =>
  (await story.client.post('/wallet_transactions', { wallet_transaction: { wallet_id: id, ...fields } })).body
    .wallet_transactions[0];
const transactions = async (id: string, query = '') =>
  (await story.client.get(`/wallets/${id}/wallet_transactions?${query}`)).body.wallet_transactions;
const webhooks = (type: string) => service.sql<{ payload: string }[]>`
  select payload from webhook_events
  where organization_id = ${story.organizationId} and webhook_type = ${type} order by id`;
const trial = async () => {
  const rows = await service.sql<{ balance: number }[]>`
    select sum(case side when 'debit' then amount_cents else -amount_cents end)::bigint as balance
    from ledger_entries where organization_id = ${story.organizationId} group by transaction_id`;
  return rows.every(({ balance }) => balance === 0);
};

describe('top-ups paid through a provider', () => {
  beforeEach(async () => {
    await story.client.post('/payment_providers', {
      payment_provider: { type: 'sandbox', code: 'test', name: 'Test' },
    });
    await story.customer({ billing_configuration: { payment_provider: 'stripe', sync_with_provider: true } });
  });
  const card = (number: string) =>
    story.client.post('/customers/acme/payment_methods', { payment_method: { card_number: number } });

  test('a top-up invoice that must be paid is numbered and becomes visible with its payment', async () => {
    await card('4242424242424242');
    const { svc_id: id } = await make();
    const bought = await move(id, { paid_credits: '20', invoice_requires_successful_payment: true });
    await until(async () => (await wallet(id)).balance_cents === 2000 || undefined);
    const { invoice } = (await story.client.get(`/invoices/${bought.svc_invoice_id}`)).body;
    expect(invoice).toMatchObject({
      invoice_type: 'credit',
      status: 'finalized',
      payment_status: 'succeeded',
      total_amount_cents: 2000,
      total_paid_amount_cents: 2000,
      issuing_date: '2024-05-01',
      payment_due_date: '2024-05-01',
    });
    expect(invoice.fees).toMatchObject([
      {
        item: { type: 'credit', item_type: 'WalletTransaction' },
        units: '20.0',
        amount_cents: 2000,
        taxes_amount_cents: 0,
      },
    ]);
    expect(invoice.number).toMatch(/-001$/);
    expect(await webhooks('invoice.paid_credit_added')).toHaveLength(1);
    expect(await trial()).toBe(true);
  });

  test('a refused card fails the top-up and is announced', async () => {
    await card('4000000000000002');
    const { svc_id: id } = await make();
    const bought = await move(id, { paid_credits: '20' });
    await until(async () => (await transactions(id, 'status=failed'))[0]);
    const [told] = await webhooks('wallet_transaction.payment_failure');
    expect(JSON.parse(told!.payload).payment_provider_wallet_transaction_payment_error).toMatchObject({
      svc_wallet_transaction_id: bought.svc_id,
      external_customer_id: 'acme',
    });
    expect((await wallet(id)).balance_cents).toBe(0);
  });
});

test('a payment page is made only for a top-up that is not settled', async () => {
  await story.customer();
  const { svc_id: id } = await make();
  const given = await move(id, { granted_credits: '1' });
  const url = async (of: string) => (await story.client.post(`/wallet_transactions/${of}/payment_url`)).body;
  expect((await url(given.svc_id)).error_details).toEqual({ base: ['wallet_transaction_not_purchased'] });
  const bought = await move(id, { paid_credits: '1' });
  expect((await url(bought.svc_id)).error_details).toEqual({ base: ['no_linked_payment_provider'] });
  await story.client.put(`/invoices/${bought.svc_invoice_id}`, { invoice: { payment_status: 'succeeded' } });
  expect((await url(bought.svc_id)).error_details).toEqual({ base: ['wallet_transaction_already_settled'] });
  expect((await url('nope')).resource).toBe('wallet_transaction');
});

test('a threshold rule buys once until that is paid, and a refused purchase pauses it for an hour', async () => {
  await story.customer();
  const { svc_id: id } = await make({
    granted_credits: '10',
    recurring_transaction_rules: [{ trigger: 'threshold', threshold_credits: '10', paid_credits: '50' }],
  });
  await story.advanceTo('2024-05-01T10:10:00Z');
  const [bought] = await transactions(id, 'status=pending');
  expect(bought).toMatchObject({ source: 'threshold', transaction_status: 'purchased', credit_amount: '50.0' });
  await story.advanceTo('2024-05-01T11:30:00Z');
  expect(await transactions(id, 'transaction_status=purchased')).toHaveLength(1);

  await story.client.put(`/invoices/${bought.svc_invoice_id}`, { invoice: { payment_status: 'failed' } });
  await story.advanceTo('2024-05-01T12:25:00Z');
  expect(await transactions(id, 'transaction_status=purchased')).toHaveLength(1);
  await story.advanceTo('2024-05-01T12:40:00Z');
  expect(await transactions(id, 'transaction_status=purchased')).toHaveLength(2);
});

test('wallets and rules end with their time, and the journal keeps everything', async () => {
  await story.customer();
  const { svc_id: id } = await make({
    granted_credits: '10',
    expiration_at: '2024-05-03T09:30:00Z',
    recurring_transaction_rules: [
      { trigger: 'interval', interval: 'weekly', granted_credits: '1', expiration_at: '2024-05-02T09:00:00Z' },
    ],
  });
  await story.advanceTo('2024-05-02T08:00:00Z');
  expect((await wallet(id)).recurring_transaction_rules).toHaveLength(1);
  await story.advanceTo('2024-05-02T10:00:00Z');
  expect((await wallet(id)).recurring_transaction_rules).toHaveLength(0);
  await story.advanceTo('2024-05-03T10:00:00Z');
  expect(await wallet(id)).toMatchObject({
    status: 'terminated',
    balance_cents: 1000,
    terminated_at: '2024-05-03T09:45:00Z',
  });
  expect(await webhooks('wallet.terminated')).toHaveLength(1);
  expect(await trial()).toBe(true);
});

test('missed days of an interval rule are caught up by one top-up', async () => {
  await story.customer();
  const { svc_id: id } = await make({
    recurring_transaction_rules: [{ trigger: 'interval', interval: 'weekly', granted_credits: '3' }],
  });
  await story.advanceTo('2024-05-22T12:00:00Z');
  const made = await transactions(id);
  expect(made.map((each: { created_at: string }) => each.created_at)).toEqual([
    '2024-05-22T00:55:00Z',
    '2024-05-15T00:55:00Z',
    '2024-05-08T00:55:00Z',
  ]);
  expect(made[0]).toMatchObject({ source: 'interval', credit_amount: '3.0' });
});

test('an alert fires at the thresholds that a balance falls to (golden case 90)', async () => {
  await story.customer();
  const { svc_id: id } = await make({ code: 'main', granted_credits: '100' });
  await until(async () => (await wallet(id)).balance_cents === 10000 || undefined);
  await story.client.post('/customers/acme/wallets/main/alerts', {
    alert: {
      code: 'low',
      alert_type: 'wallet_balance_amount',
      thresholds: [{ value: 8000 }, { value: 5000 }, { value: 2000 }],
    },
  });
  expect(await webhooks('alert.triggered')).toHaveLength(0);
  await move(id, { voided_credits: '10' });
  expect(await webhooks('alert.triggered')).toHaveLength(0);
  await move(id, { voided_credits: '20' });
  const [told, ...others] = await webhooks('alert.triggered');
  expect(others).toEqual([]);
  expect(JSON.parse(told!.payload).triggered_alert).toMatchObject({
    alert_code: 'low',
    svc_wallet_id: id,
    svc_subscription_id: '00000000-0000-0000-0000-000000000000',
    external_subscription_id: '',
    external_customer_id: 'acme',
    current_value: 7000,
    previous_value: 9000,
    crossed_thresholds: [{ value: '8000.0' }],
  });
  expect(violationsOf(JSON.parse(told!.payload))).toEqual([]);
  const other = await story.client.put('/customers/acme/wallets/main/alerts/low', { alert: { name: 'Low' } });
  expect(other.body.alert).toMatchObject({ name: 'Low', wallet_code: 'main', previous_value: 7000 });
  expect((await story.client.delete('/customers/acme/wallets/main/alerts')).status).toBe(200);
  expect((await story.client.get('/customers/acme/wallets/main/alerts')).body.meta.total_count).toBe(0);
});

test('a preview shows what wallets would pay and takes nothing from them', async () => {
  await story.customer();
  await story.plan({ amount_cents: 500, pay_in_advance: true });
  const { svc_id: id } = await make({ granted_credits: '3' });
  await until(async () => (await wallet(id)).balance_cents === 300 || undefined);
  const { body } = await story.client.post('/invoices/preview', {
    customer: { external_id: 'acme' },
    plan_code: 'plan',
    billing_time: 'anniversary',
  });
  expect(body.invoice).toMatchObject({ prepaid_credit_amount_cents: 300, total_amount_cents: 200 });
  expect((await wallet(id)).balance_cents).toBe(300);
});
