import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { SUBSCRIPTION_CHECKS } from '../../../../src/areas/reporting/audit-books/subscription-checks.ts';
import type { Context } from '../../../../src/platform/context.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { type Invoice, openStory, type Story } from '../../../support/story.ts';
import { until } from '../../../support/until.ts';
import { ok } from '../../../support/words.ts';

// Subscriptions that wait for the payment of their first invoice: activation-rules.md, ledger.md#l2, ledger.md#l3,
// ledger.md#l4, ledger.md#l5.
let service: TestService;
let story: Story;

const PAYS = '4242424242424242';
const REFUSED = '4000000000000002';
const ASKS = '4000000000003220';
const RULES = [{ type: 'payment', timeout_hours: 48 }];

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

beforeEach(async () => {
  story = await openStory(service, '2024-05-01T10:00:00Z');
  await ok(
    story.client.post('/payment_providers', { payment_provider: { type: 'sandbox', code: 'test', name: 'Test' } }),
  );
  await story.customer({
    email: 'billing@acme.test',
    billing_configuration: { payment_provider: 'stripe', sync_with_provider: true },
  });
  await story.plan({ amount_cents: 3100, pay_in_advance: true });
});

const card = (number: string) =>
  ok(story.client.post('/customers/acme/payment_methods', { payment_method: { card_number: number } }));
const gated = async (fields: object = {}) => {
  const { status, body } = await story.subscribe({ activation_rules: RULES, ...fields });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.subscription;
};
const find = async (status: string): Promise<Invoice | undefined> =>
  (await story.client.get(`/subscriptions/sub?status=${status}`)).body.subscription;
const inStatus = (status: string): Promise<Invoice> => until(() => find(status));
const stored = () => service.sql<{ id: string; status: string; number: string | null; total: number }[]>`
  select id, status, number, total_amount_cents as total from invoices
  where organization_id = ${story.organizationId} order by id`;
const inInvoice = (status: string) => until(async () => (await stored()).find((each) => each.status === status));
const processing = () =>
  until(async () => {
    const [row] = await service.sql<{ id: string }[]>`
      select id from payments where organization_id = ${story.organizationId} and payment_status = 'processing'`;
    return row;
  });
const told = async (type: string): Promise<number> => {
  const rows = await service.sql`
    select from webhook_events where organization_id = ${story.organizationId} and webhook_type = ${type}`;
  return rows.length;
};
const entries = (rule: string) => service.sql`
  select entry.account_code as account, entry.side, entry.amount_cents as amount
  from ledger_entries entry join ledger_transactions booked on booked.id = entry.transaction_id
  where entry.organization_id = ${story.organizationId} and booked.rule = ${rule} order by entry.position`;

describe('a gated subscription that is paid', () => {
  test('a card that pays activates the subscription and makes its invoice final', async () => {
    await card(PAYS);
    const made = await gated();
    expect(made).toMatchObject({
      status: 'incomplete',
      activated_at: null,
      activation_rules: [{ type: 'payment', timeout_hours: 48, status: 'pending', expires_at: '2024-05-03T10:00:00Z' }],
    });
    const active = await inStatus('active');
    expect(active).toMatchObject({
      svc_id: made.svc_id,
      activated_at: '2024-05-01T10:00:00Z',
      activation_rules: [{ status: 'satisfied' }],
    });
    const [invoice] = await story.invoices(1);
    expect(invoice).toMatchObject({
      status: 'finalized',
      payment_status: 'succeeded',
      total_amount_cents: 3100,
      issuing_date: '2024-05-01',
      total_due_amount_cents: 0,
    });
    expect(await entries('invoice_finalized')).toEqual([
      { account: 'receivable', side: 'debit', amount: 3100 },
      { account: 'revenue.subscription', side: 'credit', amount: 3100 },
    ]);
    expect((await find('active'))!.status).toBe('active');
  });

  test('a customer who must confirm a payment keeps the subscription waiting, and the time that passed is billed once', async () => {
    await card(ASKS);
    await gated({ activation_rules: [{ type: 'payment' }] });
    const payment = await processing();
    await story.advanceTo('2024-07-15T10:00:00Z');
    const waiting = await inStatus('incomplete');
    expect(waiting.activation_rules).toMatchObject([{ status: 'pending', expires_at: null }]);
    expect(await stored()).toMatchObject([{ status: 'open', total: 3100 }]);
    await ok(story.client.post(`/sandbox/payments/${payment.id}/confirm`, { outcome: 'succeeded' }));
    await inStatus('active');
    await story.advanceTo('2024-07-15T12:00:00Z');
    const invoices = await story.invoices(2);
    const periods = invoices.map(({ billing_periods: [line] }) => line.subscription_from_datetime);
    expect(periods.sort()).toEqual(['2024-05-01T00:00:00Z', '2024-07-01T00:00:00Z']);
  });

  test('an activation rule does not apply, or is satisfied at once, when there is nothing to pay', async () => {
    await card(PAYS);
    await story.plan({ code: 'arrears', amount_cents: 3100 });
    expect(await gated({ plan_code: 'arrears' })).toMatchObject({
      status: 'active',
      activation_rules: [{ status: 'not_applicable', expires_at: null }],
    });
    await story.plan({ code: 'free', amount_cents: 0, pay_in_advance: true });
    await gated({ plan_code: 'free', external_id: 'free' });
    const active = await until(
      async () => (await story.client.get('/subscriptions/free?status=active')).body.subscription,
    );
    expect(active.activation_rules).toMatchObject([{ status: 'satisfied' }]);
  });

  test('a subscription that starts later is gated when its day comes', async () => {
    await card(PAYS);
    const made = await gated({ subscription_at: '2024-05-03T00:00:00Z' });
    expect(made).toMatchObject({ status: 'pending', activation_rules: [{ status: 'inactive', expires_at: null }] });
    await story.advanceTo('2024-05-03T01:00:00Z');
    expect((await inStatus('active')).activation_rules).toMatchObject([{ status: 'satisfied' }]);
  });
});

describe('a gated subscription that is not paid', () => {
  test('a refused card cancels a gated subscription and frees its external id (PP8)', async () => {
    await card(REFUSED);
    await gated();
    expect(await inStatus('canceled')).toMatchObject({
      cancellation_reason: 'payment_failed',
      canceled_at: '2024-05-01T10:00:00Z',
      activation_rules: [{ status: 'failed' }],
    });
    expect(await stored()).toMatchObject([{ status: 'closed', number: null }]);
    const { activity_logs: logs } = (await story.client.get('/activity_logs?resource_types[]=Subscription')).body;
    expect(logs.map((log: Record<string, string>) => [log.activity_type, log.external_subscription_id])).toEqual([
      ['subscription.canceled', 'sub'],
      ['subscription.incomplete', 'sub'],
    ]);
    expect(await entries('invoice_finalized')).toEqual([]);
    await story.plan({ code: 'arrears', amount_cents: 100 });
    expect((await story.subscribe({ plan_code: 'arrears' })).body.subscription.status).toBe('active');
  });

  test('a gated subscription that is canceled gives granted credits back (LG13)', async () => {
    await card(REFUSED);
    await ok(
      story.client.post('/wallets', {
        wallet: { external_customer_id: 'acme', currency: 'USD', rate_amount: '1', granted_credits: '3', name: 'W' },
      }),
    );
    await until(async () => (await entries('credits_granted')).length > 0);
    await gated();
    await inStatus('canceled');
    expect(await entries('wallet_applied')).toEqual([
      { account: 'prepaid_granted', side: 'debit', amount: 300 },
      { account: 'applied_pending', side: 'credit', amount: 300 },
    ]);
    expect(await entries('open_invoice_closed')).toEqual([
      { account: 'applied_pending', side: 'debit', amount: 300 },
      { account: 'prepaid_granted', side: 'credit', amount: 300 },
    ]);
    const [wallet] = (await story.client.get('/wallets?external_customer_id=acme')).body.wallets;
    expect(wallet.balance_cents).toBe(300);
  });

  test('a gate that times out cancels the subscription, and a late payment changes nothing', async () => {
    await card(ASKS);
    await gated();
    const payment = await processing();
    await story.advanceTo('2024-05-03T10:10:00Z');
    expect(await find('incomplete')).toBeDefined();
    await story.advanceTo('2024-05-03T10:30:00Z');
    expect(await inStatus('canceled')).toMatchObject({
      cancellation_reason: 'timeout',
      activation_rules: [{ status: 'expired' }],
    });
    expect(await stored()).toMatchObject([{ status: 'closed' }]);
    await story.client.post(`/sandbox/payments/${payment.id}/confirm`, { outcome: 'succeeded' });
    await story.advanceTo('2024-05-03T12:00:00Z');
    expect((await find('canceled'))!.cancellation_reason).toBe('timeout');
    expect(await stored()).toMatchObject([{ status: 'closed' }]);
  });

  test('the auditor finds a gate that is long over and was never settled (A13)', async () => {
    await card(ASKS);
    await gated();
    await inInvoice('open');
    const [late] = await service.sql<{ subscription_id: string }[]>`
      update subscription_activation_rules set expires_at = '2024-04-30T10:00:00Z'
      where organization_id = ${story.organizationId} returning subscription_id`;
    const ctx = {
      db: service.sql,
      organizationId: story.organizationId,
      now: () => Temporal.Instant.from('2024-05-01T10:00:00Z'),
    };
    const check = SUBSCRIPTION_CHECKS.find(({ code }) => code === 'A13')!;
    expect(await check.find(ctx as Context)).toMatchObject([
      { resource_id: late!.subscription_id, details: { due: 'end of the gate' } },
    ]);
  });

  test('a waiting subscription can be neither changed, ended nor created again', async () => {
    await card(ASKS);
    await gated();
    await inInvoice('open');
    const ended = await story.client.delete('/subscriptions/sub');
    expect(ended.body.error_details).toEqual({ base: ['subscription_incomplete'] });
    const changed = await story.client.put('/subscriptions/sub', { subscription: { name: 'x' } });
    expect(changed.body.code).toBe('subscription_incomplete');
    const again = await story.subscribe();
    expect(again.body).toMatchObject({ error_details: { subscription: ['subscription_incomplete'] } });
  });

  test('a gated subscription that has not started is withdrawn with its rules', async () => {
    await card(PAYS);
    await gated({ subscription_at: '2024-05-03T00:00:00Z' });
    await ok(story.client.delete('/subscriptions/sub?status=pending'));
    await story.advanceTo('2024-05-04T00:00:00Z');
    expect(await find('canceled')).toMatchObject({ activation_rules: [{ status: 'inactive' }] });
    expect(await stored()).toEqual([]);
  });
});

test('of three identical gated creations at the same time one waits, is announced and booked once', async () => {
  await ok(
    story.client.post('/webhook_endpoints', {
      webhook_endpoint: { webhook_url: 'https://hooks.example.com/', name: 'W' },
    }),
  );
  await card(PAYS);
  const answers = await Promise.all([1, 2, 3].map(() => story.subscribe({ activation_rules: RULES })));
  expect(answers.filter(({ body }) => body.subscription?.status === 'incomplete')).toHaveLength(1);
  await inStatus('active');
  expect(await stored()).toHaveLength(1);
  expect(await entries('invoice_finalized')).toHaveLength(2);
  expect(await told('subscription.incomplete')).toBe(1);
  expect(await told('subscription.started')).toBe(1);
});

test.each([
  ['no way to pay', {}, { customer: ['no_default_payment_method'] }],
  [
    'payment by hand',
    { payment_method: { payment_method_type: 'manual' } },
    { customer: ['manual_payment_method_invalid_for_payment_activation_rules'] },
  ],
  ['no provider', { external_customer_id: 'other' }, { customer: ['no_linked_payment_provider'] }],
])('an activation rule is refused: %s', async (_name, fields, details) => {
  const refused = await story.subscribe({ activation_rules: RULES, ...fields });
  expect(refused.body).toMatchObject({ error_details: details });
});

test('an activation rule is refused to a customer who pays by transfer, unless the subscription names a card', async () => {
  await card(PAYS);
  const billing_configuration = { provider_payment_methods: ['customer_balance'] };
  await ok(story.client.post('/customers', { customer: { external_id: 'acme', billing_configuration } }));
  const refused = await story.subscribe({ activation_rules: RULES });
  expect(refused.body).toMatchObject({ error_details: { customer: ['no_default_payment_method'] } });
  const [method] = (await ok(story.client.get('/customers/acme/payment_methods'))).payment_methods;
  await gated({ payment_method: { payment_method_type: 'provider', payment_method_id: method.svc_id } });
  await inStatus('active');
});

test('activation rules may be replaced before the start of a subscription and not after it', async () => {
  await card(REFUSED);
  await gated({ subscription_at: '2024-05-03T00:00:00Z' });
  const put = (rules: object[]) =>
    story.client.put('/subscriptions/sub', { subscription: { activation_rules: rules } });
  const longer = await ok(put([{ type: 'payment', timeout_hours: 1 }]));
  expect(longer.subscription.activation_rules).toMatchObject([{ timeout_hours: 1, status: 'inactive' }]);
  await ok(put([]));
  await story.advanceTo('2024-05-03T01:00:00Z');
  expect(await inStatus('active')).toMatchObject({ activation_rules: [] });
  expect((await put(RULES)).body.error_details).toEqual({ activation_rules: ['subscription_not_pending'] });
});

test('a payment and a timeout at the same moment decide an activation once', async () => {
  await card(ASKS);
  await gated();
  const payment = await processing();
  await Promise.all([
    story.client.post(`/sandbox/payments/${payment.id}/confirm`, { outcome: 'succeeded' }),
    story.advanceTo('2024-05-03T10:30:00Z'),
  ]);
  const decided = await until(async () => (await find('active')) ?? (await find('canceled')));
  const [invoice] = await stored();
  expect([decided.status, invoice!.status]).toEqual(
    decided.status === 'active' ? ['active', 'finalized'] : ['canceled', 'closed'],
  );
});

test('a coupon that a canceled gated subscription used up becomes usable again', async () => {
  await card(REFUSED);
  await ok(
    story.client.post('/coupons', {
      coupon: {
        name: 'Five',
        code: 'five',
        coupon_type: 'fixed_amount',
        frequency: 'once',
        amount_cents: 500,
        amount_currency: 'USD',
        expiration: 'no_expiration',
      },
    }),
  );
  await ok(
    story.client.post('/applied_coupons', { applied_coupon: { external_customer_id: 'acme', coupon_code: 'five' } }),
  );
  await gated();
  await inStatus('canceled');
  expect(await stored()).toMatchObject([{ status: 'closed', total: 2600 }]);
  const { body } = await story.client.get('/applied_coupons?external_customer_id=acme');
  expect(body.applied_coupons).toMatchObject([{ status: 'active', amount_cents_remaining: 500 }]);
});
